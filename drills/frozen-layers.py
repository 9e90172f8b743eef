"""Layers of which some are frozen: which of the leaves end up with a gradient."""

from random import Random

from program import FROZEN_CUTS, Model, Program, draw_names, draw_number, draw_until_fair

WRONG = ("frozen_stops", "tracked", "all_leaves")


def draw(rng: Random, level: int) -> dict:
    return draw_until_fair(build, rng, level, WRONG)


def build(rng: Random, level: int) -> dict:
    count = 3 + level
    names = draw_names(rng, 3 * count)
    weights, results = names[:count], names[count : 2 * count]
    # The last layer is trained: otherwise the loss of a program without a path would have no graph at all.
    tracked = [*(rng.random() < 0.6 for _ in weights[1:]), True]
    program = Program()
    data = program.leaf(names[-1], draw_number(rng), tracked=False)
    for weight, is_tracked in zip(weights, tracked, strict=True):
        program.leaf(weight, draw_number(rng), tracked=is_tracked)
    cut_at = rng.randrange(count - 2)
    last = data
    for place, (weight, result) in enumerate(zip(weights, results, strict=True)):
        last = program.let(result, "{} * {}" if place % 2 == 0 else "{} + {}", last, weight)
        if place == cut_at:
            last = program.let(f"{result}2", "{}.detach()", last)
    if level == 3:
        last = program.let(names[-2], "{} * {}", last, weights[0])
    program.backward(last)
    has = len(Model().run(program).grads)
    return {
        "code": program.source(),
        "observe": "leaves-with-gradient",
        "answer": has,
        "frozen_stops": len(Model(frozenset([FROZEN_CUTS])).run(program).grads),
        "all_leaves": count + 1,
        "tracked": sum(tracked),
        "frozen": count - sum(tracked),
    }
