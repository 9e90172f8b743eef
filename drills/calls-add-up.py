"""Several losses c * x ** 2, each with its own backward: their gradients add up in .grad."""

from random import Random

from program import Program, draw_names, draw_until_fair

WRONG = ("last_alone", "doubled", "average")
CALLS = {1: 2, 2: 3, 3: 4}


def draw(rng: Random, level: int) -> dict:
    return draw_until_fair(build, rng, level, WRONG)


def build(rng: Random, level: int) -> dict:
    leaf, *losses = draw_names(rng, 1 + CALLS[level])
    value, factors = float(rng.choice([2, 3, 4, 5])), [float(rng.randint(1, 6)) for _ in losses]
    program = Program()
    program.leaf(leaf, value)
    for loss, factor in zip(losses, factors, strict=True):
        program.define(f"{loss} = {factor} * {leaf} ** 2", f"{loss}.backward()")
    shares = [2 * factor * value for factor in factors]
    return {
        "code": program.source(),
        "observe": f"gradient {leaf}",
        "answer": sum(shares),
        "last_alone": shares[-1],
        "doubled": shares[0] * 2 ** (len(shares) - 1),
        "average": round(sum(shares) / len(shares), 4),
        "leaf": leaf,
        "calls": len(losses),
        "shares": ", ".join(f"{share:g}" for share in shares),
    }
