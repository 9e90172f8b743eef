"""Adam's steps under a constant gradient: each is as long as the learning rate, whatever the gradient's size."""

from itertools import pairwise
from random import Random

from program import Program, draw_names, draw_until_fair

WRONG = ("proportional", "uncorrected", "together")
GRADIENTS = {1: [2, 4, 5, 20, 50], 2: [-40, -20, -4, 4, 20, 40], 3: [-30, -5, -2, 2, 5, 30]}
"""By level."""
STEPS = {1: 1, 2: 1, 3: 3}
FIRST, SECOND = 0.9, 0.999


def draw(rng: Random, level: int) -> dict:
    while True:
        values = draw_until_fair(build, rng, level, WRONG)
        answers = sorted(values[name] for name in ("answer", *WRONG))
        # Apart by more than what counts as the same number.
        if all(abs(more - less) > 0.05 * abs(less) for less, more in pairwise(answers)):
            return values


def build(rng: Random, level: int) -> dict:
    weight, loss, before, moved = draw_names(rng, 4)
    steps, gradient = STEPS[level], float(rng.choice(GRADIENTS[level]))
    rate = rng.choice([0.02, 0.03, 0.05, 0.1, 0.2, 0.3])
    program = Program()
    program.define(
        f"{weight} = torch.tensor({float(rng.randint(2, 9))}, dtype=torch.float64, requires_grad=True)",
        f"optimizer = torch.optim.Adam([{weight}], lr={rate})",
        f"for _ in range({steps}):",
        f"    {before} = {weight}.item()",
        f"    {loss} = {gradient} * ({weight} - 1.0) + 2.0",
        f"    {loss}.backward()",
        "    optimizer.step()",
        "    optimizer.zero_grad()",
        f"{moved} = round({before} - {weight}.item(), 6)",
    )
    sign = 1.0 if gradient > 0 else -1.0
    root = (1 - SECOND**steps) ** 0.5
    return {
        "code": program.source(),
        "observe": f"value {moved}",
        "answer": rate * sign,
        "proportional": rate * gradient,
        "uncorrected": round(rate * sign * (1 - FIRST**steps) / root, 4),
        "together": rate * sign * (steps if steps > 1 else 10),
        "weight": weight,
        "moved": moved,
        "steps": steps,
        "gradient": gradient,
        "size": abs(gradient),
        "sign": sign,
    }
