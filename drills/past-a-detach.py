"""A leaf whose value also arrives through a cut: only the other paths send gradient."""

from random import Random

from program import CUT_SPREADS, THROUGH_CUTS, Program, answer_by, draw_names, draw_number, draw_until_fair, extend

WRONG = ("through", "spreads")


def draw(rng: Random, level: int) -> dict:
    return draw_until_fair(build, rng, level, WRONG)


def build(rng: Random, level: int) -> dict:
    shared, other, *names = draw_names(rng, 7 + level)
    program = Program()
    for leaf in rng.sample([shared, other], 2):
        program.leaf(leaf, draw_number(rng))
    before = program.let(names[0], "{} * {}", shared, other)
    how = rng.choice(["detach", "data", "no_grad"])
    if how == "no_grad":
        cut = program.let_without_grad(names[1], "{} * {}", before, draw_number(rng))
    else:
        cut = program.let(names[1], "{}.detach()" if how == "detach" else "{}.data", before)
    after = program.let(names[2], rng.choice(["{} * {}", "{} + {}"]), cut, shared)
    loss = extend(program, rng, after, [shared, other, cut, before], names[3:])
    program.backward(loss)
    answers = answer_by(program, shared, through=THROUGH_CUTS, spreads=CUT_SPREADS)
    return {
        "code": program.source(),
        "observe": f"gradient {shared}",
        "leaf": shared,
        "loss": loss,
        "cut": cut,
        **answers,
    }
