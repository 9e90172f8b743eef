"""Cases: values first, then gradients inside, outside and on the ends of the range, then all of it at once."""

import numpy as np

RANDOM_CASES = 5
NEAR = 1e-9


def draw_cases(rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    s = float(rng.choice([0.25, 0.2, 0.125]))
    inside = draw_inside(draw, 6, s)
    outside = np.round(np.concatenate([draw.uniform(-1.5, -0.2, 3), draw.uniform(1.2, 2.5, 3)]), 3)
    mixed = np.concatenate([draw_inside(draw, 4, s), outside[[0, 4]]])
    ends = np.array([0.0, 1.0, -0.001, 1.001, 0.001, 0.999])
    rows = [
        ("inside", "Inside the range: the nearest multiple of s", "not-quantised", inside, "values", 0.0),
        ("outside", "Outside the range: its ends", "not-clamped", outside, "values", 0.0),
        ("a slope of 1", "Inside the range, the gradient passes as it is", "grad", inside, "gradient", 0.0),
        ("beyond the ends", "Outside the range, there is no gradient", "no-clip-mask", outside, "gradient", 0.0),
        ("the ends", "At exactly 0 and 1, the gradient passes", "edges", ends, "gradient", 0.0),
        ("all at once", "Inside and outside together", "grad", mixed, "gradient", 0.0),
        (
            "of a result",
            "x is computed from something else",
            "grad",
            mixed,
            "gradient",
            1.0 + round(rng.uniform(0.1, 0.2), 3),
        ),
    ]
    cases = [case(draw, *row[:4], s, *row[4:]) for row in rows]
    thirds = draw_inside(draw, 6, 1 / 3)
    cases.append(
        case(draw, "a grid of thirds", "Another grid, the same slope", "grad", thirds, 1 / 3, "gradient", 0.0)
    )
    for number in range(1, RANDOM_CASES + 1):
        step = 1 / rng.choice([1, 2, 3, 5, 7, 15, 255])
        shape = tuple(rng.choice([2, 3, 4, 5]) for _ in range(rng.randint(1, 3)))
        count = int(np.prod(shape))
        x = np.where(draw.random(count) < 0.6, draw_inside(draw, count, step), draw.uniform(-2, 3, count)).reshape(
            shape
        )
        factor = rng.choice([0.0, round(rng.uniform(0.6, 1.4), 3)])
        idea = f"Random tensor {number} of {RANDOM_CASES}: any shape, any grid"
        found = case(draw, f"random tensor {number}", idea, "larger", x, step, "gradient", factor)
        cases.append(found | {"public": False, "shown": ""})
    return cases


def diagnose(inputs, got, expected):
    """The misconception that gives exactly these values or this gradient, if there is one."""
    if not got["x unchanged"]:
        return "changes-x"
    x = inputs["x"] * (inputs["factor"] or 1.0)
    if not is_near(got["y"], expected["y"]):
        is_off_grid = not is_near(got["y"] / inputs["s"], np.round(got["y"] / inputs["s"]))
        if is_off_grid:
            return "not-quantised"
        return "not-clamped" if np.any((x < 0) | (x > 1)) else "not-nearest"
    if not got["connected"]:
        return "cut-off"
    for code, wrong in imagine(inputs, x, expected):
        if is_near(got["gradient"], wrong * (inputs["factor"] or 1.0)):
            return code
    return None


def imagine(inputs, x, expected):
    """Gradients as one with each misconception would find them, in the order of the simplest."""
    g, s, y = inputs["g"], inputs["s"], expected["y"]
    inside, within = (x >= 0) & (x <= 1), (y > 0) & (y < 1)
    yield "zero-grad", np.zeros_like(g)
    yield "no-clip-mask", g
    for mask in (inside, np.ones_like(inside)):
        yield "scaled", g * s * mask
        yield "scaled", g / s * mask
    yield "ignores-upstream", inside * 1.0
    yield "edges", g * ((x > 0) & (x < 1))
    yield "edges", g * ((x >= 0) & (x < 1))
    yield "edges", g * ((x > 0) & (x <= 1))
    yield "mask-of-output", g * within


def case(draw, name, idea, finding, x, s, ask, factor):
    g = np.round(draw.choice([-1.0, 1.0], x.shape) * draw.uniform(0.5, 2.0, x.shape), 3)
    given = f"x * {factor}" if factor else "x"
    lines = [f"x = {np.array2string(x, separator=', ')}", f"y = quantise({given}, {s:.6g})"]
    if ask == "gradient":
        lines += [f"g = {np.array2string(g, separator=', ')}", "y.backward(g)"]
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": True,
        "inputs": {"x": x, "g": g, "s": s, "ask": ask, "factor": factor},
        "shown": "\n".join(lines),
    }


def draw_inside(draw, count, s):
    """Numbers in the range, none on the grid or near a halfway point; one is rounded to 0, and one up to 1."""
    last = round(1 / s)
    steps = draw.integers(0, last + 1, count)
    steps[:2] = 0, last
    signs = np.where(steps == 0, 1.0, np.where(steps == last, -1.0, draw.choice([-1.0, 1.0], count)))
    return (steps + signs * draw.uniform(0.1, 0.4, count)) * s


def is_near(got, wrong):
    return got.shape == wrong.shape and np.allclose(got, wrong, rtol=NEAR, atol=NEAR)
