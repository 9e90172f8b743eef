"""Layers with a detach and a skip connection around it: which of the leaves end up with a gradient."""

from random import Random

from program import Model, Program, draw_names, draw_number, draw_until_fair

WRONG = ("without_skip", "all_weights", "tracked")


def draw(rng: Random, level: int) -> dict:
    return draw_until_fair(build, rng, level, WRONG)


def build(rng: Random, level: int) -> dict:
    count = 4 + level
    names = draw_names(rng, 2 * count + 3)
    weights, results = names[:count], names[count : 2 * count]
    data, cut, summed = names[2 * count :]
    cut_at = rng.randrange(1, count - 1)
    skip_from = rng.randrange(cut_at)
    frozen = rng.choice(weights[:-1])
    programs = [Program(), Program()]
    for program, has_skip in zip(programs, (True, False), strict=True):
        program.leaf(data, 2.0, tracked=False)
        last = data
        for place, (weight, result) in enumerate(zip(weights, results, strict=True)):
            program.leaf(weight, 3.0, tracked=weight != frozen)
            last = program.let(result, "{} * {}", last, weight)
            if place == cut_at:
                last = program.let(cut, "{}.detach()", last)
        if has_skip:
            last = program.let(summed, "{} + {}", last, results[skip_from])
        program.backward(last)
    reached, without_skip = (len(Model().run(program).grads) for program in programs)
    shown = Program()
    for step in programs[0].steps:
        shown.leaf(step.name, draw_number(rng), step.op == "tracked") if step.kind == "leaf" else shown.add(step)
    return {
        "code": shown.source(),
        "observe": "leaves-with-gradient",
        "answer": reached,
        "without_skip": without_skip,
        "all_weights": count + 1,
        "tracked": count - 1,
        "skip": results[skip_from],
    }
