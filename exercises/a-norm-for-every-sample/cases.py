"""Cases: small networks, one sample, one unit, errors of zero, and a batch whose gradients would be too large."""

import numpy as np

NAMES = ("x", "target", "w1", "b1", "w2", "b2")
NEAR = 1e-3
HIDDEN_CASES = 4


def draw_cases(rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    cases = [
        case(draw, "three samples", "Two layers with several units", "wrong-norm", (3, 2, 3, 2), marked=False),
        case(
            draw,
            "parameters that require a gradient",
            "As in training",
            "leaves-gradients",
            draw_sizes(rng),
            marked=True,
        ),
        case(
            draw, "one of everything", "One sample, one feature, one unit", "one-of-each", (1, 1, 1, 1), marked=True
        ),
        case(draw, "a sample without an error", "Its gradient is zero", "no-error", (4, 2, 2, 1), exact=1),
        case(
            draw,
            "24,000 samples",
            "One backward pass per sample is too slow",
            "too-slow",
            (24_000, 32, 32, 32),
            big=True,
        ),
    ]
    for number in range(1, HIDDEN_CASES + 1):
        idea = f"Random network {number} of {HIDDEN_CASES}"
        found = case(draw, f"random network {number}", idea, "larger", draw_sizes(rng), marked=number % 2 == 0)
        cases.append(found | {"public": False, "shown": ""})
    wide = case(draw, "many outputs", "More outputs than anything else", "larger", (3, 2, 3, rng.randint(8, 12)))
    cases.append(wide | {"public": False, "shown": ""})
    return cases


def diagnose(inputs, got, expected):
    """The other quantity that the answer is, if it is one."""
    if got["a tensor has a .grad"]:
        return "leaves-gradients"
    if got["a tensor changed"]:
        return "changes-inputs"
    ours, right = got["norms"], expected["norms"]
    if ours.shape != right.shape:
        return None
    x, target, w1, b1, w2, b2 = (inputs[name].astype(np.float64) for name in NAMES)
    hidden = np.tanh(x @ w1.T + b1)
    error = hidden @ w2.T + b2 - target
    below = (2 * error @ w2) * (1 - hidden**2)
    second, first = squares(2 * error), squares(below)
    whole = [(below.T @ x), below.sum(0), (2 * error).T @ hidden, (2 * error).sum(0)]
    others = {
        "squared": [right.astype(np.float64) ** 2],
        "forgets-bias": [np.sqrt(second * squares(hidden) + first * squares(x))],
        "one-layer": [np.sqrt(second * (squares(hidden) + 1)), np.sqrt(first * (squares(x) + 1))],
        "averaged": [right / len(x), right / error.size],
        "half": [right / 2],
        "of-the-batch": [np.full(len(x), np.sqrt(sum((part**2).sum() for part in whole)))],
        "no-derivative": [np.sqrt(second * (squares(hidden) + 1) + squares(2 * error @ w2) * (squares(x) + 1))],
    }
    for code, wrongs in others.items():
        if len(x) > 1 and any(np.allclose(ours, wrong, rtol=NEAR, atol=NEAR) for wrong in wrongs):
            return code
    return None


def case(draw, name, idea, finding, shape, marked=False, exact=None, big=False):
    samples, features, hidden, outputs = shape
    shapes = [(samples, features), (samples, outputs), (hidden, features), (hidden,), (outputs, hidden), (outputs,)]
    draw_one = draw_many if big else draw_array
    inputs = {each: draw_one(draw, size) for each, size in zip(NAMES, shapes, strict=True)}
    if big:
        inputs["w1"], inputs["w2"] = inputs["w1"] / np.float32(6), inputs["w2"] / np.float32(6)
    if exact is not None:
        inputs["w2"][:] = 0
        inputs["target"][exact] = inputs["b2"]
    shown = [f"{each} = {np.array2string(inputs[each], separator=', ')}" for each in NAMES]
    sizes = f"x: {samples} x {features}, hidden: {hidden}, outputs: {outputs}, all drawn at random"
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": True,
        "inputs": inputs | {"marked": marked},
        "shown": sizes if big else "\n".join([*shown, f"the parameters require a gradient: {marked}"]),
    } | ({"slow": "too-slow"} if big else {})


def draw_sizes(rng):
    """Samples, features, hidden units, outputs."""
    return tuple(rng.randint(2, 5) for _ in range(4))


def squares(values):
    """The sum of each row's squares."""
    return (values**2).sum(1)


def draw_many(draw, shape):
    """Numbers of the same size, drawn at once: the large case has many."""
    return draw.standard_normal(shape, dtype=np.float32)


def draw_array(draw, shape):
    return np.round(draw.choice([-1.0, 1.0], shape) * draw.uniform(0.3, 1.2, shape), 2).astype(np.float32)
