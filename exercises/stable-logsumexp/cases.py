"""Cases: logits of ordinary size first, then each way in which floating point can go wrong, then all at once.

Everything that a wrong program might get right by luck has a case of its own: each way of counting a dimension from
the end, axes of size 1, equal entries, two calls before one backward, and memory in another order.
"""

import numpy as np

RANDOM_CASES = 4
NEAR = 1e-9
MASKED = -np.inf


def draw_cases(rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    return [*draw_public(draw), *draw_corners(draw), *(draw_random(draw, number) for number in range(RANDOM_CASES))]


def draw_public(draw):
    masked = draw_logits(draw, (3, 4))
    masked[0, 1] = masked[1, [0, 3]] = MASKED
    apart = np.stack([draw_logits(draw, (4,), middle) for middle in (1000, -1000, 0)])
    apart[0, 2] += 40
    empty = draw_logits(draw, (3, 4))
    empty[1] = MASKED
    cube = draw_logits(draw, (2, 3, 4))
    rows = [
        ("one row", "A single row: value and gradient", "forward", draw_logits(draw, (4,)), 0),
        ("a square", "Each row has its own upstream gradient", "vjp", draw_logits(draw, (4, 4)), 1),
        ("columns", "Along the first dimension", "dim", draw_logits(draw, (3, 4)), 0),
        ("a negative dim", "A dimension counted from the end", "dim", cube, -3),
        ("axes of size 1", "Other axes of size 1 stay", "shape", draw_logits(draw, (1, 3, 1)), 1),
        ("large logits", "Logits of a thousand do not overflow", "overflow", draw_logits(draw, (3, 4), 1000), 1),
        ("rows far apart", "Logits near 1000 and near -1000 in different rows", "overflow", apart, 1),
        ("masked entries", "An entry of -inf contributes nothing", "masked", masked, 1),
        ("a masked row", "A row of -inf alone has the value -inf and the gradient 0", "minus-inf-row", empty, 1),
    ]
    block = draw_logits(draw, (3, 3, 3))
    pair = case(
        draw, "two calls", "Two calls along different dimensions, then one backward pass", "shared-state", block, 1
    )
    add_second(draw, pair, draw_logits(draw, (3, 3, 3)), 2)
    calls = "ys = [LogSumExp.apply(x, 1), LogSumExp.apply(second_x, 2)]\ntorch.autograd.backward(ys, [g, second_g])"
    return [*(case(draw, *row) for row in rows), pair | {"shown": write_inputs(pair["inputs"]) + calls}]


def draw_corners(draw):
    """Fixed shapes that a random one hits rarely."""
    equal = np.full((3, 3), float(np.round(draw.uniform(-2, 2), 2)))
    rows = [
        ("the last of three", "dim=-1 of a cube", "dim", draw_logits(draw, (3, 3, 3)), -1),
        ("the middle of three", "dim=-2 of a cube", "dim", draw_logits(draw, (3, 3, 3)), -2),
        ("the first of three", "dim=-3 of a cube", "dim", draw_logits(draw, (3, 3, 3)), -3),
        ("the first of four", "dim=-4 of four dimensions", "dim", draw_logits(draw, (2, 1, 3, 2)), -4),
        ("a vector from the end", "dim=-1 of a vector", "dim", draw_logits(draw, (5,)), -1),
        ("equal entries", "All entries of a row are its maximum", "vjp", equal, 0),
        ("one entry", "A dimension of size 1 is reduced", "forward", draw_logits(draw, (2, 1, 3)), 1),
        ("a lone number", "Shape (1, 1)", "shape", draw_logits(draw, (1, 1)), -1),
    ]
    hidden = [hide(case(draw, *row)) for row in rows]
    view = hide(
        case(draw, "a transposed input", "x is not contiguous in memory", "dim", draw_logits(draw, (3, 4)), 0)
    )
    view["inputs"]["transposed"] = True
    masks = draw_logits(draw, (3, 2))
    masks[:, 0] = MASKED
    pair = hide(case(draw, "two masked calls", "Two calls with different masks", "shared-state", masks, 0))
    add_second(draw, pair, masks[:, ::-1].copy(), 0)
    return [*hidden, view, pair]


def draw_random(draw, number):
    """A shape of one to four dimensions; logits of any size, each row around its own middle; a few masks."""
    shape = tuple(int(n) for n in draw.integers(1, 5, draw.integers(1, 5)))
    dim = int(draw.integers(-len(shape), len(shape)))
    middle = draw.uniform(-1000, 1000, shape).mean(axis=dim, keepdims=True)
    x = draw_logits(draw, shape) + np.round(middle, 2)
    x[draw.random(shape) < 0.15] = MASKED
    idea = f"Random shape {number + 1} of {RANDOM_CASES}: any dimension, logits of any size, masked entries"
    return hide(case(draw, f"random shape {number + 1}", idea, "larger", x, dim))


def diagnose(inputs, got, expected):
    """The misconception that gives exactly this answer, if there is one."""
    if broken := find_breach(got, expected):
        return broken
    if not is_near(got["value"], expected["value"]):
        return None
    if is_near(got["gradient"], expected["gradient"]):
        return None if got["your node alone"] else "not-your-node"
    for code, wrong in imagine(inputs):
        if wrong.shape == got["gradient"].shape and is_near(got["gradient"], wrong):
            return code
    is_plain = np.all(np.abs(inputs["x"]) < 100) and inputs["dim"] == inputs["x"].ndim - 1
    return "vjp" if is_plain and "second x" not in inputs else None


def find_breach(got, expected):
    """What can be said of an answer without looking at its gradients."""
    if got["gradients returned"] != expected["gradients returned"]:
        return "wrong-arity"
    if not got["x unchanged"]:
        return "writes-into-x"
    return "finite-floor" if np.any(np.isneginf(expected["value"]) & np.isfinite(got["value"])) else None


def imagine(inputs):
    """The gradients that each misconception would give."""
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


def is_near(got, wanted):
    return np.allclose(got, wanted, rtol=NEAR, atol=NEAR)


def case(draw, name, idea, finding, x, dim):
    inputs = {"x": x, "g": draw_upstream(draw, x, dim), "dim": dim, "transposed": False}
    not_finite = {"masked": "masked", "larger": "larger"}.get(finding, "overflow")
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": True,
        "inputs": inputs,
        "shown": write_inputs(inputs) + f"LogSumExp.apply(x, {dim}).backward(g)",
        "not_finite": ["value"],
        "instead": {
            "wrong_shape": "dim" if finding == "dim" else "shape",
            "not_finite": "minus-inf-row" if np.any(np.all(x == MASKED, axis=dim)) else not_finite,
        },
    }


def add_second(draw, drawn, x, dim):
    drawn["inputs"] |= {"second x": x, "second g": draw_upstream(draw, x, dim), "second dim": dim}
    drawn["not_finite"] = ["value", "second value"]


def draw_upstream(draw, x, dim):
    shape = x.sum(axis=dim).shape
    return np.asarray(np.round(draw.choice([-1.0, 1.0], shape) * draw.uniform(0.5, 2.0, shape), 3))


def hide(drawn):
    return drawn | {"public": False, "shown": ""}


def write_inputs(inputs):
    arrays = {name: value for name, value in inputs.items() if isinstance(value, np.ndarray)}
    texts = {name: np.array2string(value, separator=", ") for name, value in arrays.items()}
    return "".join(f"{name.replace(' ', '_')} = {text}  # {arrays[name].shape}\n" for name, text in texts.items())


def draw_logits(draw, shape, middle=0.0):
    """No two entries are equal: ties are the idea of one case, and the luck of none."""
    return middle + (draw.choice(401, shape, replace=False) - 200) / 100
