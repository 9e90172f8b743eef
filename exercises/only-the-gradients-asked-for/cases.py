"""Cases: the value and each gradient, what is frozen, and then what the kernel counts.

A unit is 1 MiB. Measured, in units: 5 for many calls that hold nothing, and 52 if each call keeps its x; 2 for one
call with a tensor of 48 MiB, and 50 if its gradient is computed. A copy of each x in two bytes a number holds 17.
"""

import numpy as np

RANDOM_CASES = 3
NEAR = 1e-8
WRONG = {"x": "gradient-of-x", "weight": "gradient-of-weight", "bias": "gradient-of-bias"}
CALLS = 48
MOST_UNITS = 12
MANY_ROWS, WIDE = (2048, 64, 64), 3072


def draw_cases(rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    frozen = case(draw, "a frozen weight", "The weight requires no gradient", "frozen", (3, 4), 2)
    public = [
        case(draw, "some rows", "The value and all three gradients", "gradient-of-weight", (5, 4), 3),
        case(draw, "a square", "As many rows as inputs and outputs", "transposed", (3, 3), 3),
        case(draw, "three dimensions", "Rows in two dimensions", "axis", (2, 3, 4), 5),
        drop(case(draw, "no bias", "bias is None", "bias-none", (3, 4), 2), "bias"),
        freeze(frozen, "weight"),
        add_second(draw, case(draw, "two calls", "Two calls, one backward", "shared-state", (3, 4), 2), 2),
        measured(
            rng, f"{CALLS} calls", "Nothing is held for a weight that is frozen", MANY_ROWS, CALLS, "weight", "bias"
        ),
        measured(rng, "a large x", "No gradient of x is computed", (2048, WIDE, 4), 1, "x"),
        measured(
            rng, "a large weight", "No gradient of the weight is computed", (16, 2048, WIDE), 1, "weight", "bias"
        ),
    ]
    for found in (*public, *(corners := draw_corners(rng, draw))):
        write(found)
    return [*public, *(found | {"public": False, "shown": ""} for found in corners)]


def draw_corners(rng, draw):
    flipped = case(draw, "other memory orders", "x and g are not contiguous", "axis", (2, 3, 4), 3)
    flipped["inputs"]["flipped"] = True
    corners = [
        case(draw, "a vector", "x has one dimension", "axis", (4,), 3),
        case(draw, "four dimensions", "x has four dimensions", "axis", (2, 1, 3, 4), 2),
        case(draw, "one by one", "All sizes are 1", "larger", (1, 1), 1),
        case(draw, "a cube", "All sizes are equal", "transposed", (3, 3, 3), 3),
        case(draw, "no rows", "Shape (0, 4)", "no-rows", (0, 4), 2),
        flipped,
        freeze(case(draw, "a frozen x", "x is data", "frozen", (2, 3), 4), "x"),
        freeze(case(draw, "only the weight", "Only the weight is trained", "frozen", (2, 3), 4), "x", "bias"),
        freeze(case(draw, "only the bias", "Only the bias is trained", "frozen", (2, 3), 4), "x", "weight"),
        freeze(case(draw, "only x", "Only x requires a gradient", "frozen", (2, 3), 4), "weight", "bias"),
        freeze(
            drop(case(draw, "only x, no bias", "No bias, a frozen weight", "frozen", (2, 3), 4), "bias"), "weight"
        ),
        freeze(case(draw, "nothing", "Nothing requires a gradient", "frozen", (2, 3), 4), "x", "weight", "bias"),
        add_second(
            draw, case(draw, "two other calls", "Two calls of different shape", "shared-state", (2, 2, 3), 2), 4
        ),
        measured(rng, "deep calls", "The same with a trained bias", MANY_ROWS, CALLS, "weight", deep=True),
    ]
    for number in range(1, RANDOM_CASES + 1):
        shape = tuple(int(size) for size in draw.integers(1, 6, draw.integers(2, 5)))
        idea = f"Random shape {number} of {RANDOM_CASES}"
        corners.append(case(draw, f"random shape {number}", idea, "larger", shape, int(draw.integers(1, 6))))
    return corners


def case(draw, name, idea, finding, shape, outs):
    inputs = draw_side(draw, shape, outs) | {"frozen": [], "flipped": False}
    not_finite = finding if finding == "no-rows" else "not-finite"
    instead = {"not_finite": not_finite, "wrong_shape": "shape"}
    return {"name": name, "idea": idea, "finding": finding, "public": True, "inputs": inputs, "instead": instead}


def draw_side(draw, shape, outs):
    return {
        "x": signed(draw, shape),
        "weight": signed(draw, (outs, shape[-1])),
        "bias": signed(draw, (outs,)),
        "g": signed(draw, (*shape[:-1], outs)),
    }


def signed(draw, shape):
    return np.asarray(np.round(draw.choice([-1.0, 1.0], shape) * draw.uniform(0.5, 2.0, shape), 3))


def drop(found, name):
    del found["inputs"][name]
    return found


def freeze(found, *names):
    found["inputs"]["frozen"] = list(names)
    return found


def add_second(draw, found, outs):
    second = draw_side(draw, found["inputs"]["x"].shape, outs)
    found["inputs"] |= {f"second {name}": value for name, value in second.items()}
    return found


def measured(rng, name, idea, sizes, calls, *frozen, deep=False):
    inputs = {"seed": rng.getrandbits(40), "large": list(sizes), "calls": calls, "frozen": list(frozen), "deep": deep}
    finding = "frozen" if calls == 1 else "wrong-sum"
    peak = {"unit_bytes": 1 << 20, "most_units": MOST_UNITS}
    return {"name": name, "idea": idea, "finding": finding, "public": True, "inputs": inputs, "peak": peak}


def write(found):
    inputs = found["inputs"]
    lines = [
        f"{n.replace(' ', '_')} = {np.array2string(v, separator=', ')}" for n, v in inputs.items() if is_array(v)
    ]
    if "large" in inputs:
        rows, ins, outs = inputs["large"]
        lines.append(f"x of shape ({rows}, {ins}), weight of shape ({outs}, {ins}), {inputs['calls']} call(s)")
    elif "bias" not in inputs:
        lines.append("bias = None")
    if inputs["frozen"]:
        lines.append(f"requires no gradient: {', '.join(inputs['frozen'])}")
    found["shown"] = "\n".join(lines)


def is_array(value):
    return isinstance(value, np.ndarray)


def diagnose(inputs, got, expected):
    """The misconception that gives exactly this answer, if there is one."""
    if "large" in inputs:
        return None
    if got["gradients returned"] != expected["gradients returned"]:
        return "wrong-arity"
    if not got["shapes fit"]:
        return "gradient-shape"
    if not is_near(got["y"], expected["y"]):
        return name_value(inputs, got["y"])
    if "second x" in inputs or inputs["frozen"]:
        return (
            None  # every gradient is right as long as all of them are asked for, or an earlier case would have failed
        )
    for name, wrongs in (("x", imagine_x), ("weight", imagine_weight), ("bias", imagine_bias)):
        found, right = got.get(f"gradient of {name}"), expected.get(f"gradient of {name}")
        if right is not None and not is_near(found, right):
            return name_gradient(name, found, right, list(wrongs(inputs)), inputs["x"].ndim)
    return None if got["your node alone"] else "not-your-node"


def name_value(inputs, y):
    plain = inputs["x"] @ inputs["weight"].T
    if "bias" in inputs and is_near(y, plain):
        return "no-bias"
    if inputs["x"].shape[-1] == len(inputs["weight"]) and "bias" in inputs:
        return "transposed" if is_near(y, inputs["x"] @ inputs["weight"] + inputs["bias"]) else "forward"
    return "forward" if inputs["x"].ndim == 2 else None


def name_gradient(name, found, right, wrongs, dimensions):
    if right.any() and not found.any():
        return "no-gradient"
    codes = [code for code, wrong in wrongs if is_near(found, wrong)]
    return codes[0] if codes else WRONG[name] if dimensions == 2 else None


def imagine_x(inputs):
    g, weight = inputs["g"], inputs["weight"]
    yield "ignores-upstream", np.ones_like(g) @ weight
    if weight.shape[0] == weight.shape[1]:
        yield "transposed", g @ weight.T
        yield "exchanged", flat(g).T @ flat(inputs["x"])


def imagine_weight(inputs):
    g, x = flat(inputs["g"]), flat(inputs["x"])
    yield "averaged", g.T @ x / max(1, len(g))
    yield "ignores-upstream", np.ones_like(g).T @ x
    if g.shape[1] == x.shape[1]:
        yield "transposed", x.T @ g


def imagine_bias(inputs):
    g = flat(inputs["g"])
    yield "averaged", g.sum(0) / max(1, len(g))
    yield "ignores-upstream", np.ones_like(g).sum(0)
    if g.shape[0] == g.shape[1]:
        yield "axis", g.sum(1)


def flat(array):
    return array.reshape(-1, array.shape[-1])


def is_near(got, wrong):
    return np.shape(got) == np.shape(wrong) and np.allclose(got, wrong, rtol=NEAR, atol=NEAR)
