"""Cases: values first, then gradients inside, outside and on the ends of the range, then all of it at once.

What random tensors show rarely has its own case: x beside the quantiser, two calls before one backward, grid points,
a single number, an empty tensor, memory in another order.
"""

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
    beside = case(
        draw, "x is used twice", "x also reaches the loss past the quantiser", "masks-other-paths", mixed, s
    )
    beside["inputs"]["h"] = draw_upstream(draw, mixed.shape)
    beside["shown"] += f"  # together with\nh = {write(beside['inputs']['h'])}\nx.backward(h)"
    pair = case(draw, "two calls", "Two calls before one backward pass", "shared-state", mixed, s)
    pair["inputs"] |= {"second x": mixed[::-1].copy(), "second g": draw_upstream(draw, mixed.shape)}
    pair["shown"] += f"  # together with\nsecond_y.backward(second_g), where second_x = {write(mixed[::-1])}"
    cases += [beside, pair, *draw_corners(draw, s, mixed)]
    for number in range(1, RANDOM_CASES + 1):
        step = 1 / rng.choice([1, 2, 3, 5, 7, 15, 255])
        shape = tuple(rng.choice([2, 3, 4, 5]) for _ in range(rng.randint(1, 3)))
        count = int(np.prod(shape))
        x = np.where(draw.random(count) < 0.6, draw_inside(draw, count, step), draw.uniform(-2, 3, count)).reshape(
            shape
        )
        factor = rng.choice([0.0, round(rng.uniform(0.6, 1.4), 3)])
        idea = f"Random tensor {number} of {RANDOM_CASES}: any shape, any grid"
        cases.append(hide(case(draw, f"random tensor {number}", idea, "larger", x, step, "gradient", factor)))
    return cases


def draw_corners(draw, s, mixed):
    """What a random tensor hits rarely."""
    grid = np.arange(round(1 / s) + 1) * s
    thin = np.array([0.0, -0.0, 1.0, np.nextafter(1.0, 2.0), -1e-12, 1e-12])
    rows = [
        ("on the grid", "x on the points of the grid passes unchanged", "grad", grid),
        ("just beyond", "At the ends and just beyond them", "edges", thin),
        ("one number", "A tensor of shape ()", "larger", np.array(draw_inside(draw, 3, s)[2])),
        ("no number", "A tensor without entries", "larger", np.zeros((2, 0))),
        ("one by one", "A tensor of shape (1, 1)", "larger", np.array([[1.7]])),
    ]
    view = case(draw, "a transposed tensor", "x is not contiguous in memory", "larger", mixed.reshape(2, 3), s)
    view["inputs"]["transposed"] = True
    plain = case(
        draw, "no gradient wanted", "x does not require a gradient", "no-gradient-wanted", mixed, s, "values"
    )
    plain["inputs"]["needs_gradient"] = False
    return [hide(each) for each in (*(case(draw, *row, s) for row in rows), view, plain)]


def hide(drawn):
    return drawn | {"public": False, "shown": ""}


def diagnose(inputs, got, expected):
    """The misconception that gives exactly these values or this gradient, if there is one."""
    if not got["x unchanged"]:
        return "inputs-changed"
    x = inputs["x"] * (inputs["factor"] or 1.0)
    if not is_near(got["y"], expected["y"]):
        is_off_grid = not is_near(got["y"] / inputs["s"], np.round(got["y"] / inputs["s"]))
        if is_off_grid:
            return "not-quantised"
        return "not-clamped" if np.any((x < 0) | (x > 1)) else "not-nearest"
    if not got["connected"]:
        return "cut-off"
    if inputs["h"].any() or "second x" in inputs:
        return None  # the gradient for one use alone is right, or an earlier case would have failed
    for code, wrong in imagine(inputs, x, expected):
        wrong = wrong * (inputs["factor"] or 1.0)
        if is_near(got["gradient"], wrong) and not is_near(wrong, expected["gradient"]):
            return code
    return None


def imagine(inputs, x, expected):
    """Gradients as one with each misconception would find them, in the order of the simplest."""
    g, s, y = inputs["g"], inputs["s"], expected["y"]
    inside, within = (x >= 0) & (x <= 1), (y > 0) & (y < 1)
    yield "zero-grad", np.zeros_like(g)
    rounded = np.round(x / s) * s
    if not np.any((rounded < 0) | (rounded > 1)) and not np.all(inside):
        # All that is outside rounds to an end. A gradient without any mask has failed a case before this one.
        yield "mask-of-rounded", g
    yield "mask-of-rounded", g * ((rounded >= 0) & (rounded <= 1))
    yield "no-clip-mask", g
    for mask in (inside, np.ones_like(inside)):
        yield "scaled", g * s * mask
        yield "scaled", g / s * mask
    yield "ignores-upstream", inside * 1.0
    yield "edges", g * ((x > 0) & (x < 1))
    yield "edges", g * ((x >= 0) & (x < 1))
    yield "edges", g * ((x > 0) & (x <= 1))
    yield "mask-of-output", g * within


def draw_upstream(draw, shape):
    return np.asarray(np.round(draw.choice([-1.0, 1.0], shape) * draw.uniform(0.5, 2.0, shape), 3))


def write(array):
    return np.array2string(array, separator=", ")


def case(draw, name, idea, finding, x, s, ask="gradient", factor=0.0):
    g = draw_upstream(draw, x.shape)
    given = f"x * {factor}" if factor else "x"
    lines = [f"x = {write(x)}", f"y = quantise({given}, {s:.6g})"]
    if ask == "gradient":
        lines += [f"g = {write(g)}", "y.backward(g)"]
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": True,
        "inputs": {"x": x, "g": g, "h": np.zeros(x.shape), "s": s, "ask": ask, "factor": factor}
        | {"needs_gradient": True, "transposed": False},
        "shown": "\n".join(lines),
    }


def draw_inside(draw, count, s):
    """Numbers in the range, none on the grid or near a halfway point; one is rounded to 0, and one up to 1.

    On a grid that has points between the ends, two are rounded to such points: where all are rounded to an end, a
    mask of the output lets nothing through, and looks like no gradient at all.
    """
    last = round(1 / s)
    steps = draw.integers(0, last + 1, count)
    steps[:2] = 0, last
    if last > 1:
        steps[2:4] = draw.integers(1, last, len(steps[2:4]))
    signs = np.where(steps == 0, 1.0, np.where(steps == last, -1.0, draw.choice([-1.0, 1.0], count)))
    return (steps + signs * draw.uniform(0.1, 0.4, count)) * s


def is_near(got, wrong):
    return got.shape == wrong.shape and np.allclose(got, wrong, rtol=NEAR, atol=NEAR)
