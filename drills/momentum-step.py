"""SGD with momentum under a constant gradient: how long the t-th step is."""

from random import Random

from program import Program, draw_names, draw_until_fair

WRONG = ("limit", "plain", "averaged")
MOMENTA = {1: [0.5], 2: [0.5, 0.75], 3: [0.5, 0.75]}
"""By level. Their powers are exact in binary, and so are the steps."""
STEPS = {1: 3, 2: 3, 3: 4}


def draw(rng: Random, level: int) -> dict:
    return draw_until_fair(build, rng, level, WRONG)


def build(rng: Random, level: int) -> dict:
    weight, loss, before, moved = draw_names(rng, 4)
    steps, momentum = STEPS[level], rng.choice(MOMENTA[level])
    rate, gradient = rng.choice([0.25, 0.5, 1.0, 2.0]), float(rng.choice([4, 8, 12, 16, 20, 24]))
    program = Program()
    program.leaf(weight, float(rng.randint(2, 9)))
    program.define(
        "optimizer = torch.optim.SGD(",
        f"    [{weight}], lr={rate}, momentum={momentum}",
        ")",
        f"for _ in range({steps}):",
        f"    {before} = {weight}.item()",
        f"    {loss} = {gradient} * {weight}",
        f"    {loss}.backward()",
        "    optimizer.step()",
        "    optimizer.zero_grad()",
        f"{moved} = {before} - {weight}.item()",
    )
    powers = [momentum**power for power in range(steps)]
    return {
        "code": program.source(),
        "observe": f"value {moved}",
        "answer": rate * gradient * sum(powers),
        "limit": rate * gradient / (1 - momentum),
        "plain": rate * gradient,
        "averaged": rate * gradient * (1 - momentum**steps),
        "weight": weight,
        "moved": moved,
        "steps": steps,
        "momentum": momentum,
        "rest": 1 - momentum,
        "gradient": gradient,
        "powers": " + ".join(f"{one:g}" for one in powers),
        "buffer": gradient * sum(powers),
        "rate": rate,
    }
