"""Cases: small functions whose Hessian is dense, one that has none, one too wide for its Hessian, random ones."""

import numpy as np

RANDOM_CASES = 4
NEAR = 1e-9
WIDE = 50_000

WRITTEN = {
    "quadratic": "f(x) = (x * (A @ x)).sum() / 2 + (b * x).sum(); A is not symmetric",
    "network": "f(x) = tanh(A @ sin(x + b)).pow(2).sum()",
    "parameter": "f(x) = (tanh(A @ x) * w).sum() + (w * x.pow(3)).sum(); w is a Parameter",
    "linear": "f(x) = (b * x).sum()",
    "weighted": "f(x) = (w * x).sum(); w is a Parameter",
    "wide": f"f(x) = tanh(x * roll(x, 1) + b).sum(), with {WIDE} entries in x",
}


def draw_cases(rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    rows = [
        ("a quadratic", "The Hessian is a constant matrix", "wrong-product", "quadratic", 3),
        ("a network", "The Hessian depends on x", "wrong-product", "network", 3),
        ("with a parameter", "A parameter that f uses gets no gradient", "leaves-gradients", "parameter", 3),
        ("a linear function", "The Hessian is zero: the gradient does not depend on x", "no-curvature", "linear", 3),
        ("one entry", "x has one entry", "wrong-product", "network", 1),
        ("a wide function", "The Hessian would take 20 GB", "builds-hessian", "wide", WIDE),
    ]
    cases = [case(draw, *row) for row in rows]
    for number in range(1, RANDOM_CASES + 1):
        kind = ["network", "parameter", "quadratic", "weighted"][number - 1]
        idea = f"Random function {number} of {RANDOM_CASES}"
        found = case(draw, f"random function {number}", idea, "larger", kind, rng.randint(4, 8))
        cases.append(found | {"public": False, "shown": ""})
    return cases


def diagnose(inputs, got, expected):
    """The other quantity that the answer is, if it is one."""
    if got["the parameter has a .grad"]:
        return "leaves-gradients"
    if got["x or v is changed"]:
        return "changes-inputs"
    ours, right = got["product"], expected["product"]
    if inputs["kind"] == "quadratic":
        a, b, x, v = (inputs[name] for name in ("matrix", "other", "x", "v"))
        hessian = (a + a.T) / 2
        others = {
            "gradient-times-v": [(hessian @ x + b) * v, hessian @ x + b],
            "diagonal-only": [np.diag(hessian) * v],
        }
        others["not-times-v"] = [hessian @ np.ones_like(v)]
        for code, wrongs in others.items():
            if any(is_near(ours, wrong, NEAR) for wrong in wrongs):
                return code
    if is_near(ours, right, 1e-3):
        return "inexact"
    return "wrong-product" if inputs["kind"] == "wide" else None


def case(draw, name, idea, finding, kind, size):
    side = 1 if kind == "wide" else size
    inputs = {
        "kind": kind,
        "matrix": draw_array(draw, (side, side)),
        "other": draw_array(draw, size),
        "x": draw_array(draw, size),
        "v": draw_array(draw, size),
    }
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": True,
        "inputs": inputs,
        "shown": write(inputs),
    } | ({"slow": "builds-hessian"} if kind == "wide" else {})


def write(inputs):
    if inputs["kind"] == "wide":
        return WRITTEN["wide"]
    named = {"A": "matrix", "b": "other", "x": "x", "v": "v"}
    numbers = [f"{short} = {np.array2string(inputs[name], separator=', ')}" for short, name in named.items()]
    return "\n".join([WRITTEN[inputs["kind"]], *numbers])


def draw_array(draw, shape):
    return np.round(draw.choice([-1.0, 1.0], shape) * draw.uniform(0.3, 1.2, shape), 3)


def is_near(got, wrong, bound):
    return got.shape == wrong.shape and np.allclose(got, wrong, rtol=bound, atol=bound)
