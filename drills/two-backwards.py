"""Two or three backward calls, some through a graph that is kept: what they leave in .grad adds up."""

from random import Random

from program import FIRST_CALL, LAST_CALL, Program, answer_by, draw_names, draw_number, draw_until_fair, extend

WRONG = ("first_call", "last_call")


def draw(rng: Random, level: int) -> dict:
    return draw_until_fair(build, rng, level, WRONG)


def build(rng: Random, level: int) -> dict:
    shared, other, base, *names = draw_names(rng, 8 + level)
    program = Program()
    for leaf in rng.sample([shared, other], 2):
        program.leaf(leaf, draw_number(rng))
    program.let(base, "{} * {}", shared, other)
    calls = 3 if level == 3 else 2
    losses = []
    for number in range(calls):
        own, names = names[: 1 + (level > 1 and number == 0)], names[2:]
        losses.append(extend(program, rng, base, [shared, shared, other], own))
    rng.shuffle(losses)
    for loss in losses:
        program.backward(loss, retain=loss != losses[-1])
        if level == 3 and loss == losses[0]:
            program.clear(shared)
    answers = answer_by(program, shared, first_call=FIRST_CALL, last_call=LAST_CALL)
    return {"code": program.source(), "observe": f"gradient {shared}", "leaf": shared, "calls": calls, **answers}
