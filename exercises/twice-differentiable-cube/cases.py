"""Cases: value and first order, then every way in which a second order can be wrong without an error.

Zeros have their own cases: powers that are right elsewhere divide by them.
"""

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
    "grad((w * (x + 1) * second).sum(), x)",
    "calls": "one, other = Cube.apply(x), Cube.apply(2 - x)\n"
    "first = grad([one, other], x, [w, ones_like(x)], create_graph=True)\ngrad((x * first).sum(), x)",
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
        ("third order", "Once more: 6, in a product with x + 1", "third-order", "third"),
        ("two calls", "Two calls, then one backward that is differentiated", "shared-state", "calls"),
        ("written into", "x was changed in between, and the backward is not misled", "change-unnoticed", "guard"),
    ]
    cases = [case(draw, *row, (3,)) for row in rows]
    zeros = [
        case(
            draw, f"zeros, {order}", "Entries of x are 0, where powers and quotients have no slope", "zero", ask, (4,)
        )
        for order, ask in (("first order", "first"), ("second order", "second"))
    ]
    cases[-1:-1] = zeros  # the first cases name the plain mistakes
    zeros += [hide(case(draw, "zeros, third order", "Entries of x are 0", "zero", "third", (4,)))]
    for each in zeros:
        x = each["inputs"]["x"]
        x[:2] = 0.0, -0.0
        each["shown"] = "" if each is zeros[-1] else write(each["inputs"])
    cases += [zeros[-1], *(hide(case(draw, *row)) for row in CORNERS)]
    cases[-1]["inputs"]["transposed"] = True
    for number in range(1, RANDOM_CASES + 1):
        shape = tuple(rng.choice([2, 3, 4]) for _ in range(rng.randint(1, 3)))
        ask = ["penalty", "hessian", "product", "third", "first"][number - 1]
        idea = f"Random tensor {number} of {RANDOM_CASES}, inside another function"
        found = case(draw, f"random tensor {number}", idea, "composition", ask, shape)
        cases.append(hide(found))
    return cases


def hide(drawn):
    return drawn | {"public": False, "shown": ""}


CORNERS = [
    ("a single number", "A tensor of shape ()", "composition", "second", ()),
    ("no number", "A tensor without entries", "composition", "product", (2, 0)),
    ("one by one", "A tensor of shape (1, 1)", "composition", "third", (1, 1)),
    ("a transposed tensor", "x is not contiguous in memory", "composition", "product", (3, 2)),
]


def diagnose(inputs, got, expected):
    """The misconception that gives exactly this answer, if there is one."""
    ask, x, w = inputs["ask"], inputs["x"], inputs["weights"]
    if ask == "value":
        return None if not is_near(got["value"], expected["value"]) else "not-your-node"
    if ask == "guard":
        return None
    if ask == "first":
        return "ignores-upstream" if is_near(got["gradient"], 3 * x**2) else None
    if ask == "calls" or x.size == 0:
        return None
    if not got["connected"]:
        return "second-order-cut" if ask != "upstream" else "upstream-detached"
    constant_square = {"product": w * 3 * x**2, "third": w * 6 * x, "second": 0 * x}
    if ask in constant_square and is_near(got["gradient"], constant_square[ask]):
        return "third-order" if ask == "third" else "second-order-silent"
    return None


def case(draw, name, idea, finding, ask, shape):
    inputs = {"ask": ask, "x": draw_array(draw, shape), "weights": draw_array(draw, shape), "transposed": False}
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": True,
        "inputs": inputs,
        "shown": write(inputs),
    } | ({"instead": {"not_finite": "zero"}} if finding == "zero" else {})


def write(inputs):
    x, w = (np.array2string(inputs[name], separator=", ") for name in ("x", "weights"))
    lines = [f"x = {x}"] if inputs["ask"] in ("value", "guard") else [f"x = {x}", f"w = {w}"]
    return "\n".join([*lines, PROGRAMS.get(inputs["ask"], "")])


def draw_array(draw, shape):
    """Of order one, away from 0 and 1, where powers coincide."""
    sizes = draw.choice([draw.uniform(0.5, 0.8), draw.uniform(1.2, 1.6)], shape)
    return np.asarray(np.round(draw.choice([-1.0, 1.0], shape) * sizes, 3))


def is_near(got, wrong):
    return got.shape == wrong.shape and np.allclose(got, wrong, rtol=NEAR, atol=NEAR)
