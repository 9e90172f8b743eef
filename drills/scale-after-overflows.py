"""The scale of a GradScaler after a pattern of good steps and overflows."""

from random import Random

from program import Program, draw_names, draw_until_fair

WRONG = ("never_grows", "keeps_counting")
GOOD = ("1", "2", "3", "4")
OVERFLOWS = ("inf", "nan")


def draw(rng: Random, level: int) -> dict:
    return draw_until_fair(build, rng, level, WRONG)


def build(rng: Random, level: int) -> dict:
    weight, factor, loss, scale = draw_names(rng, 4)
    interval = 2 if level < 3 else 3
    overflows = [False, *(rng.random() < 0.3 for _ in range(3 + 2 * level))]
    start = float(rng.choice([16, 32, 64, 128]))
    factors = [rng.choice(OVERFLOWS if over else GOOD) for over in overflows]
    program = Program()
    program.define("from math import inf, nan", "")
    program.leaf(weight, float(rng.randint(2, 9)))
    program.define(
        f"optimizer = torch.optim.SGD([{weight}], lr=0.1)",
        "scaler = torch.amp.GradScaler(",
        f'    "cpu", init_scale={start},',
        f"    growth_interval={interval},",
        ")",
        f"for {factor} in [{', '.join(factors)}]:",
        f"    {loss} = {factor} * {weight}",
        f"    scaler.scale({loss}).backward()",
        "    scaler.step(optimizer)",
        "    scaler.update()",
        "    optimizer.zero_grad()",
        f"{scale} = scaler.get_scale()",
    )
    scales = follow(overflows, start, interval)
    return {
        "code": program.source(),
        "observe": f"value {scale}",
        "answer": scales[-1],
        "never_grows": follow(overflows, start, interval, growth=1.0)[-1],
        "keeps_counting": follow(overflows, start, interval, restarts=False)[-1],
        "scale": scale,
        "interval": interval,
        "scales": ", ".join(f"{one:g}" for one in scales),
    }


def follow(overflows: list, scale: float, interval: int, growth: float = 2.0, restarts: bool = True) -> list:
    """The scale after each step. The keywords are for what a misconception believes."""
    good, scales = 0, []
    for over in overflows:
        if over:
            scale, good = scale / 2, 0 if restarts else good
        else:
            good += 1
        if good == interval:
            scale, good = scale * growth, 0
        scales.append(scale)
    return scales
