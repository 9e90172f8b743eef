"""Cases: value and first order, then every way in which a second order can be wrong without an error."""

import numpy as np

RANDOM_CASES = 5
NEAR = 1e-9

PROGRAMS = {
    "value": "Cube.apply(x)",
    "first": "grad(Cube.apply(x), x, w)",
    "product": "first = grad(Cube.apply(x), x, create_graph=True)\ngrad((w * x * first).sum(), x)",
    "second": "first = grad(Cube.apply(x), x, w, create_graph=True)\ngrad(first.sum(), x)",
    "upstream": "w.requires_grad_()\nfirst = grad(Cube.apply(x), x, w, create_graph=True)\n"
    "grad(first.sum() + w.sum(), w)",
    "hessian": "y = sin(Cube.apply(1.1 * x + 0.2)).sum()\nfirst = grad(y, x, create_graph=True)\n"
    "grad((first * w).sum(), x)",
    "third": "first = grad(Cube.apply(x), x, create_graph=True)\nsecond = grad(first.sum(), x, create_graph=True)\n"
    "grad((w * x * second).sum(), x)",
    "guard": "inner = x * 1.0\ny = Cube.apply(inner)\ninner.add_(1.0)  # under no_grad\n"
    "y.sum().backward()  # an error, or the old gradient",
}


def draw_cases(rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    rows = [
        ("the value", "The cube, and one node between it and x", "forward", "value"),
        ("first order", "The gradient, with something coming in from above", "first-order", "first"),
        (
            "inside a product",
            "The gradient is used in a product with x, and differentiated",
            "second-order-silent",
            "product",
        ),
        ("second order", "The gradient itself is differentiated: 6x", "second-order-cut", "second"),
        (
            "by what came in",
            "The gradient, differentiated by the gradient from above",
            "upstream-detached",
            "upstream",
        ),
        ("Hessian times vector", "The cube in the middle of a chain", "composition", "hessian"),
        ("third order", "Once more: 6, in a product with x", "third-order", "third"),
        ("written into", "x was changed in between, and the backward is not misled", "change-unnoticed", "guard"),
    ]
    cases = [case(draw, *row, (3,)) for row in rows]
    for number in range(1, RANDOM_CASES + 1):
        shape = tuple(rng.choice([2, 3, 4]) for _ in range(rng.randint(1, 3)))
        ask = ["penalty", "hessian", "product", "third", "first"][number - 1]
        idea = f"Random tensor {number} of {RANDOM_CASES}, inside another function"
        found = case(draw, f"random tensor {number}", idea, "composition", ask, shape)
        cases.append(found | {"public": False, "shown": ""})
    return cases


def diagnose(inputs, got, expected):
    """The misconception that gives exactly this answer, if there is one."""
    ask, x, w = inputs["ask"], inputs["x"], inputs["weights"]
    if ask == "value":
        return None if not is_near(got["value"], expected["value"]) else "not-your-node"
    if ask == "guard":
        return None
    if ask == "first":
        return "ignores-upstream" if is_near(got["gradient"], 3 * x**2) else None
    if not got["connected"]:
        return "second-order-cut" if ask != "upstream" else "upstream-detached"
    constant_square = {"product": w * 3 * x**2, "third": w * 6 * x, "second": 0 * x}
    if ask in constant_square and is_near(got["gradient"], constant_square[ask]):
        return "third-order" if ask == "third" else "second-order-silent"
    return None


def case(draw, name, idea, finding, ask, shape):
    x, w = draw_array(draw, shape), draw_array(draw, shape)
    lines = [f"x = {np.array2string(x, separator=', ')}", f"w = {np.array2string(w, separator=', ')}"]
    lines = lines[:1] if ask in ("value", "guard") else lines
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": True,
        "inputs": {"ask": ask, "x": x, "weights": w},
        "shown": "\n".join([*lines, PROGRAMS.get(ask, "")]),
    }


def draw_array(draw, shape):
    """Of order one, away from 0 and 1, where powers coincide."""
    return np.round(
        draw.choice([-1.0, 1.0], shape) * draw.choice([draw.uniform(0.5, 0.8), draw.uniform(1.2, 1.6)], shape), 3
    )


def is_near(got, wrong):
    return got.shape == wrong.shape and np.allclose(got, wrong, rtol=NEAR, atol=NEAR)
