"""A small tensor that is broadcast over a larger one: its gradient is summed over the copies."""

from random import Random

from program import ONE_COPY, Program, answer_by, draw_names, draw_number, draw_until_fair

WRONG = ("one_copy", "mean")


def draw(rng: Random, level: int) -> dict:
    return draw_until_fair(build, rng, level, WRONG)


def build(rng: Random, level: int) -> dict:
    large, small, other, product, shifted, total = draw_names(rng, 6)
    rows, columns = rng.randint(2, 3), rng.randint(2, 3)
    whole = level == 1 or rng.random() < 0.4
    program = Program()
    program.leaf(large, [[draw_number(rng, 1, 6) for _ in range(columns)] for _ in range(rows)], rng.random() < 0.5)
    program.leaf(small, draw_number(rng) if whole else [draw_number(rng) for _ in range(columns)])
    last = program.let(product, rng.choice(["{} * {}", "{} * {}", "{} + {}"]), *rng.sample([large, small], 2))
    program.leaf(other, draw_number(rng), tracked=False)
    factor = other if level == 1 else rng.choice([other, large])
    last = program.let(shifted, rng.choice(["{} * {}", "{} - {}"]), last, factor)
    if level == 3:
        square = program.let(f"{shifted}2", "{} ** 2", last)
        last = program.let(f"{shifted}3", rng.choice(["{} + {}", "{} * {}"]), square, small)
    program.backward(program.let(total, "{}.sum()", last))
    place = 0 if whole else rng.randrange(columns)
    answers = answer_by(program, small, place, one_copy=ONE_COPY)
    copies = rows * columns if whole else rows
    asked = f"{small}.grad" if whole else f"{small}.grad[{place}]"
    return {
        "code": program.source(),
        "observe": f"gradient {small} {place}",
        "leaf": small,
        "asked": asked,
        "copies": copies,
        "mean": answers["answer"] / copies,
        **answers,
    }
