"""Several leaves, and one whose only path to the loss runs through a cut."""

from random import Random

from program import Model, Program, draw_names, draw_number, extend

CALLS = {"{}.detach()": "detach()", "{}.data": ".data"}


def draw(rng: Random, level: int) -> dict:
    victim, helper, beside, *rest = draw_names(rng, 10 + level)
    leaves, names = [victim, helper, beside, *rest[: level - 1]], rest[level - 1 :]
    program = Program()
    for leaf in rng.sample(leaves, len(leaves)):
        program.leaf(leaf, draw_number(rng))
    before = program.let(names[0], "{} * {}", *rng.sample([victim, helper], 2))
    if level > 1:
        before = program.let(names[1], "{} + {}", before, draw_number(rng))
    if level == 3 and rng.random() < 0.5:
        cut, call = program.let_without_grad(names[2], "{} * {}", before, draw_number(rng)), "no_grad"
    else:
        how = rng.choice(list(CALLS))
        cut, call = program.let(names[2], how, before), CALLS[how]
    last = program.let(names[3], rng.choice(["{} * {}", "{} + {}"]), *rng.sample([cut, beside], 2))
    for leaf, name in zip(rng.sample([helper, *rest[: level - 1]], level), names[4:], strict=False):
        last = program.let(name, rng.choice(["{} * {}", "{} + {}", "{} - {}"]), *rng.sample([last, leaf], 2))
    if level == 3:
        last = extend(program, rng, last, [beside, helper], [names[-1]])
    program.backward(last)
    model = Model().run(program)
    without = [leaf for leaf in leaves if leaf not in model.grads]
    return {
        "code": program.source(),
        "observe": "leaf-without-gradient",
        "answer": " and ".join(without),
        "beside": beside,
        "helper": helper,
        "cut": cut,
        "call": call,
        "loss": last,
    }
