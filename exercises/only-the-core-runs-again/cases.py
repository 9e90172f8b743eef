"""Cases: values and gradients on small tensors, weights that change, and what the kernel counts over 36 layers.

A unit is one matrix of tokens times tokens for all heads, 1 MiB. Measured with 36 layers, in units: everything kept
78, one matrix per layer 45 to 48, the core again 7 to 13.
"""

import numpy as np
import torch

RANDOM_CASES = 3
NEAR = 1e-8
LOW = 5e-3  # as near as an answer gets if a number is rounded to float32 or float16
LAYERS, MOST_UNITS = 36, 32
TOKENS, HEADS, CHANNELS = 256, 2, 8
CHANGE = (-0.6, 0.2)  # as in probe.py
GRADIENTS = ("gradient of x", "gradient of the weights")


def draw_cases(rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    public = [
        case(draw, "one head", "Value and gradients, with one head", "gradient", (1, 3, 2), 1),
        case(draw, "three heads", "Value and gradients, with three heads", "gradient", (2, 4, 6), 3),
        case(
            draw,
            "other weights",
            "The projection's weights change before the backward pass",
            "projects-again",
            (2, 4, 4),
            2,
            change=True,
        ),
        case(draw, "two calls", "Two calls before one backward pass", "two-calls", (1, 3, 4), 2, calls=2),
        measured(rng),
    ]
    hidden = [
        case(draw, "one token", "A single token", "larger", (3, 1, 4), 2),
        case(draw, "large scores", "Scores far beyond the cap", "large", (1, 4, 4), 2, scale=30.0),
        case(draw, "an input of no interest", "x needs no gradient", "larger", (2, 3, 4), 2, wanted=(False, True)),
        case(
            draw, "a frozen projection", "The weights need no gradient", "larger", (2, 3, 4), 1, wanted=(True, False)
        ),
        case(draw, "nothing to train", "Nothing needs a gradient", "larger", (1, 3, 4), 2, wanted=(False, False)),
    ]
    for number in range(1, RANDOM_CASES + 1):
        heads = rng.randint(1, 3)
        shape = (rng.randint(1, 3), rng.randint(2, 6), heads * rng.randint(1, 3))
        idea = f"Random tensor {number} of {RANDOM_CASES}, and weights that change"
        hidden.append(
            case(draw, f"random tensor {number}", idea, "larger", shape, heads, change=True, calls=number % 2 + 1)
        )
    return [*public, *(found | {"public": False, "shown": ""} for found in hidden)]


def measured(rng):
    inputs = {"seed": rng.getrandbits(40), "layers": LAYERS, "tokens": TOKENS, "heads": HEADS, "channels": CHANNELS}
    return {
        "name": f"{LAYERS} layers",
        "idea": f"{LAYERS} layers, within the budget",
        "finding": "wrong-sum",
        "public": True,
        "inputs": inputs | {"cap": 2.0},
        "shown": f"{LAYERS} layers x = x + attend(x, project, {HEADS}, 2.0) / 8; x: shape [1, {TOKENS}, {CHANNELS}]",
        "peak": {"unit_bytes": 8 * HEADS * TOKENS**2, "most_units": MOST_UNITS},
    }


def case(draw, name, idea, finding, shape, heads, scale=1.0, calls=1, change=False, wanted=(True, True)):
    channels = shape[-1]
    x, g = draw_array(draw, shape), draw_array(draw, shape)
    weight = draw_array(draw, (3 * channels, channels))
    weight[: 2 * channels] *= scale
    cap = float(np.round(draw.uniform(0.6, 1.5), 2))
    lines = [f"heads = {heads}, cap = {cap}"]
    for letter, array in (("x", x), ("project.weight", weight), ("g", g)):
        shown = np.array2string(array, separator=", ") if array.size <= 24 else f"shape {list(array.shape)}"
        lines.append(f"{letter} = {shown}")
    if calls > 1:
        lines.append("y = attend(x, ...) + attend(0.7 * x, ...)")
    if change:
        lines.append("project.weight changes between the call and y.backward(g)")
    inputs = {"x": x, "weight": weight, "g": g, "heads": heads, "cap": cap, "calls": calls}
    inputs |= {"weights change": change, "x wanted": wanted[0], "weight wanted": wanted[1]}
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": True,
        "inputs": inputs,
        "shown": "\n".join(lines),
        "instead": {"not_finite": "large"},
    }


def draw_array(draw, shape):
    return np.round(draw.choice([-1.0, 1.0], shape) * draw.uniform(0.4, 1.4, shape), 3)


def diagnose(inputs, got, expected):
    """The other quantity that the answer is, if it is one."""
    if "layers" in inputs:
        return None if got["gradient"] else "cut-off"
    if is_near(got["output"], expected["output"]):
        return diagnose_gradients(inputs, got, expected)
    if is_near(got["output"], expected["output"], LOW):
        return "low-precision"
    return next((code for code, wrong in imagine_outputs(inputs) if is_near(got["output"], wrong)), "forward")


def diagnose_gradients(inputs, got, expected):
    ours, right = ([answers[name] for name in GRADIENTS] for answers in (got, expected))
    projects_again = got["calls of project"] != expected["calls of project"]
    if projects_again or all(map(is_near, ours, right)):
        return "projects-again"
    if not any(each.any() for each in ours):
        return "cut-off"
    imagined = imagine_gradients(inputs)
    if code := next((code for code, wrong in imagined if all(map(is_near, ours, wrong))), None):
        return code
    return "low-precision" if all(is_near(*pair, LOW) for pair in zip(ours, right, strict=True)) else None


def attend(x, weight, inputs, width=None, cap=True, axis=-1, straight=False, nested=False, core=None, sloped=True):
    """attend as it should be, or with one thing changed."""
    rows, tokens, channels = x.shape
    qkv, heads = x @ weight.T, inputs["heads"]
    if nested:
        q, k, v = qkv.view(rows, tokens, heads, 3, -1).permute(3, 0, 2, 1, 4)
    else:
        q, k, v = qkv.view(rows, tokens, 3, heads, -1).permute(2, 0, 3, 1, 4)
    if core is not None:
        q, k, v = core(q, k, v)
    scores = q @ k.transpose(-1, -2) / (width or q.shape[-1]) ** 0.5
    if cap:
        capped = inputs["cap"] * torch.tanh(scores / inputs["cap"])
        scores = capped if sloped else scores + (capped - scores).detach()
    mixed = scores.softmax(axis) @ v
    return (mixed if straight else mixed.transpose(1, 2)).reshape(rows, tokens, channels)


def sum_up(inputs, x, weight, **changed):
    return sum(attend(x * factor, weight, inputs, **changed) for factor in (1.0, 0.7)[: inputs["calls"]])


def imagine_outputs(inputs):
    """The outputs that each misconception would give."""
    x, weight = torch.from_numpy(inputs["x"]), torch.from_numpy(inputs["weight"])
    for code, changed in (
        ("no-scale", {"width": 1}),
        ("no-scale", {"width": x.shape[-1]}),
        ("no-cap", {"cap": False}),
        ("wrong-axis", {"axis": -2}),
        ("heads-mixed", {"straight": True}),
        ("layout", {"nested": True}),
    ):
        yield code, sum_up(inputs, x, weight, **changed).numpy()


def imagine_gradients(inputs):
    """The gradients of x and of the weights that each misconception would give."""
    yield "no-path-to-scores", differentiate(inputs, lambda q, k, v: (q.detach(), k.detach(), v))
    yield "no-path-to-scores", differentiate(inputs, lambda q, k, v: (q.detach(), k, v))
    yield "no-path-to-scores", differentiate(inputs, lambda q, k, v: (q, k.detach(), v))
    yield "no-path-to-values", differentiate(inputs, lambda q, k, v: (q, k, v.detach()))
    yield "slope-of-the-cap", differentiate(inputs, sloped=False)
    if inputs["weights change"]:
        changed = inputs["weight"] * CHANGE[0] + CHANGE[1]
        yield "projects-again", differentiate(inputs | {"weight": changed, "weights change": False})


def differentiate(inputs, core=None, sloped=True):
    x = torch.from_numpy(inputs["x"]).clone().requires_grad_(inputs["x wanted"])
    weight = torch.from_numpy(inputs["weight"]).clone().requires_grad_(inputs["weight wanted"])
    output = sum_up(inputs, x, weight, core=core, sloped=sloped)
    if inputs["weights change"]:
        weight.data.mul_(CHANGE[0]).add_(CHANGE[1])
    if output.requires_grad:
        output.backward(torch.from_numpy(inputs["g"]))
    return [np.zeros(leaf.shape) if leaf.grad is None else leaf.grad.numpy() for leaf in (x, weight)]


def is_near(got, wrong, bound=NEAR):
    return np.shape(got) == np.shape(wrong) and np.allclose(got, wrong, rtol=bound, atol=bound)
