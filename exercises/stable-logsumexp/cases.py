"""Cases: logits of ordinary size first, then each way in which floating point can go wrong, then all at once."""

import numpy as np

RANDOM_CASES = 5
NEAR = 1e-9
MASKED = -np.inf


def draw_cases(rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    masked = draw_logits(draw, (3, 4))
    masked[0, 1] = masked[1, [0, 3]] = MASKED
    apart = np.stack([draw_logits(draw, (4,), middle) for middle in (1000, -1000, 0)])
    apart[0, 2] += 40
    empty = draw_logits(draw, (3, 4))
    empty[1] = MASKED
    rows = [
        ("one row", "A single row: value and gradient", "forward", draw_logits(draw, (4,)), 0),
        ("a square", "Each row has an incoming gradient of its own", "vjp", draw_logits(draw, (4, 4)), 1),
        ("columns", "Along the first dimension", "dim", draw_logits(draw, (3, 4)), 0),
        ("a negative dim", "Along a dimension that is counted from the end", "dim", draw_logits(draw, (2, 3, 4)), -2),
        ("large logits", "Logits of a thousand do not overflow", "overflow", draw_logits(draw, (3, 4), 1000), 1),
        (
            "rows far apart",
            "Logits of plus and of minus a thousand, in different rows",
            "overflow",
            apart,
            1,
        ),
        ("masked entries", "An entry of -inf counts nothing", "masked", masked, 1),
        ("an empty row", "A row of -inf throughout has the gradient 0", "minus-inf-row", empty, 1),
    ]
    cases = [case(draw, *row) for row in rows]
    for number in range(1, RANDOM_CASES + 1):
        idea = f"Random shape {number} of {RANDOM_CASES}: any dimension, any size of logits, masks"
        found = case(draw, f"random shape {number}", idea, "larger", *draw_random(draw))
        cases.append(found | {"public": False, "shown": ""})
    return cases


def diagnose(inputs, got, expected):
    """The misconception that gives exactly this gradient, if there is one."""
    if got["gradients returned"] != expected["gradients returned"]:
        return "wrong-arity"
    if not np.allclose(got["value"], expected["value"], rtol=NEAR, atol=NEAR):
        return None
    if np.allclose(got["gradient"], expected["gradient"], rtol=NEAR, atol=NEAR):
        return None if got["your node alone"] else "not-your-node"
    for code, wrong in imagine(inputs, expected):
        if wrong.shape == got["gradient"].shape and np.allclose(got["gradient"], wrong, rtol=NEAR, atol=NEAR):
            return code
    is_plain = np.all(np.abs(inputs["x"]) < 100) and inputs["dim"] == inputs["x"].ndim - 1
    return "vjp" if is_plain else None


def imagine(inputs, expected):
    """Gradients as one with each misconception would find them."""
    x, g, dim = inputs["x"], inputs["g"], inputs["dim"]
    highest = x.max(axis=dim, keepdims=True)
    if not np.all(np.isfinite(highest)):
        return
    shifted = np.exp(x - highest)
    share = shifted / shifted.sum(axis=dim, keepdims=True)
    up = np.expand_dims(g, dim)
    yield "ignores-upstream", share
    yield "not-normalised", up * shifted
    with np.errstate(over="ignore"):
        yield "not-normalised", up * np.exp(x)
    if g.shape in ((), share.shape[-1:]):
        yield "upstream-axis", g * share


def case(draw, name, idea, finding, x, dim):
    shape = x.sum(axis=dim).shape
    g = np.asarray(np.round(draw.choice([-1.0, 1.0], shape) * draw.uniform(0.5, 2.0, shape), 3))
    lines = [
        f"{key} = {np.array2string(value, separator=', ')}  # {value.shape}" for key, value in (("x", x), ("g", g))
    ]
    not_finite = {"forward": "overflow", "vjp": "overflow", "dim": "overflow", "larger": "larger"}.get(
        finding, finding
    )
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": True,
        "inputs": {"x": x, "g": g, "dim": dim},
        "shown": "\n".join([*lines, f"LogSumExp.apply(x, {dim}).backward(g)"]),
        "instead": {"wrong_shape": "dim" if finding == "dim" else "shape", "not_finite": not_finite},
    }


def draw_logits(draw, shape, middle=0.0):
    return np.round(middle + draw.uniform(-2.0, 2.0, shape), 2)


def draw_random(draw):
    """A shape of one to four dimensions; logits of any size, each row around a middle of its own; a few masks."""
    shape = tuple(int(n) for n in draw.integers(2, 5, draw.integers(1, 5)))
    dim = int(draw.integers(-len(shape), len(shape)))
    middle = draw.uniform(-1000, 1000, shape).mean(axis=dim, keepdims=True)
    x = draw_logits(draw, shape) + np.round(middle, 2)
    x[draw.random(shape) < 0.15] = MASKED
    return x, dim
