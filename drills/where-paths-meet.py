"""A leaf that is used several times: its gradient is the sum over all paths."""

from random import Random

from program import FIRST_USE, LAST_USE, Program, answer_by, draw_names, draw_number, draw_until_fair, extend

WRONG = ("first_use", "last_use")


def draw(rng: Random, level: int) -> dict:
    return draw_until_fair(build, rng, level, WRONG)


def build(rng: Random, level: int) -> dict:
    shared, other, *names = draw_names(rng, 5 + level)
    program = Program()
    for leaf in rng.sample([shared, other], 2):
        program.leaf(leaf, draw_number(rng))
    first = program.let(names[0], "{} * {}", shared, other)
    loss = extend(program, rng, first, [shared, shared, other], names[1:])
    if level == 3:
        program.write_in_place(loss, "{} * {}", 2)
    program.backward(loss)
    answers = answer_by(program, shared, first_use=FIRST_USE, last_use=LAST_USE)
    return {"code": program.source(), "observe": f"gradient {shared}", "leaf": shared, "loss": loss, **answers}
