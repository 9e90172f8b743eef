"""Cases: pairs of shapes, from those that agree to random ones; every number is drawn anew.

Shapes whose sizes coincide have their own cases: beside 3 and 3, a rule that looks for an axis by its size finds the
wrong one, and random sizes hide that.
"""

import numpy as np

RANDOM_SHAPES = 6
NEAR = 1e-9
SINGLE = 1e-5  # what float32 loses, with some room for sums

AGREE = "Shapes that agree: the plain rule"
LEADING = "One operand lacks an axis: it was copied along it"
SIZE_ONE = "One operand has size 1 where the other has more: it was copied along that axis"
BOTH = "Both operands were copied, each along another axis"


COINCIDE = "An axis is copied or not because of its place, whatever sizes the other axes have"
CORNERS = [
    ("a column of a square", COINCIDE, "axes-by-size", "*", (3, 1), (3, 3), "size-one-axes"),
    ("a slice of a cube", COINCIDE, "axes-by-size", "*", (3, 1, 3), (3, 3, 3), "size-one-axes"),
    ("a row of a cube", COINCIDE, "axes-by-size", "+", (3,), (3, 3, 3)),
    ("a table in a stack", COINCIDE, "axes-by-size", "*", (2, 3), (3, 2, 3)),
    ("two numbers", "Shapes () and ()", "mul-rule", "*", (), ()),
    ("a number and a lone entry", "Shapes () and (1,)", "mul-rule", "*", (), (1,)),
    ("one by one", "Shapes (1, 1) and (1,): sizes of 1 on both sides", "mul-rule", "*", (1, 1), (1,)),
    ("rows of size 1", "Both operands have size 1 on an axis: nothing was copied", "mul-rule", "*", (1, 3), (1, 3)),
    ("four axes", "One operand of four axes beside one of two", "sum-over-copies", "*", (2, 1), (2, 3, 2, 2)),
]
VIEWS = ("sum-over-copies", "*", (4, 1), (2, 4, 3), "size-one-axes")


def draw_cases(rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    cases = [
        case(draw, "a sum, shapes agree", AGREE, "add-rule", "+", (2, 3), (2, 3)),
        case(draw, "a product, shapes agree", AGREE, "mul-rule", "*", (2, 3), (2, 3)),
        case(draw, "a row of biases", LEADING, "sum-over-copies", "+", (4, 3), (3,)),
        case(draw, "a product with a row", LEADING, "sum-over-copies", "*", (2,), (3, 4, 2)),
        case(draw, "a product with a number", LEADING, "sum-over-copies", "*", (), (2, 3)),
        case(draw, "a column beside a table", SIZE_ONE, "sum-over-copies", "+", (4, 1), (4, 3), "size-one-axes"),
        case(draw, "a column times a row", BOTH, "sum-over-copies", "*", (4, 1), (1, 3), "size-one-axes"),
        case(draw, "both kinds of axes", BOTH, "sum-over-copies", "*", (3, 1), (2, 1, 4), "size-one-axes"),
        case(draw, "sizes that coincide", COINCIDE, "axes-by-size", "*", (3,), (3, 3)),
        *(hide(case(draw, *row)) for row in CORNERS),
        hide(case(draw, "transposed arrays", "The arrays are not contiguous in memory", *VIEWS)),
    ]
    cases[-1]["inputs"]["transposed"] = True
    for number in range(1, RANDOM_SHAPES + 1):
        op = "+" if number == 1 else "*"
        a, b = draw_shapes(rng)
        idea = f"Random shapes {number} of {RANDOM_SHAPES}, new in every run: {'a sum' if op == '+' else 'a product'}"
        cases.append(case(draw, f"random shapes {number}", idea, "larger-shapes", op, a, b, "larger-shapes"))
        cases[-1] = hide(cases[-1])
    return cases


def hide(drawn):
    return drawn | {"public": False, "shown": ""}


def diagnose(inputs, got, expected):
    """The misconception that gives exactly these two gradients, if there is one."""
    g, a, b, op = (inputs[name] for name in ("g", "a", "b", "op"))
    for code, model in MISTAKES.items():
        wrong = [model(g, mine, other, op) for mine, other in ((a, b), (b, a))]
        if all(is_near(got[name], value) for name, value in zip(("ga", "gb"), wrong, strict=True)):
            return code
    right = (bring_home(apply(g, mine, other, op), mine.shape) for mine, other in ((a, b), (b, a)))
    near = all(is_near(got[name], value, SINGLE) for name, value in zip(("ga", "gb"), right, strict=True))
    return "inexact" if near else None


def case(draw, name, idea, finding, op, a, b, misshapen="shape"):
    arrays = {"g": np.broadcast_shapes(a, b), "a": a, "b": b}
    inputs = {key: draw_array(draw, shape) for key, shape in arrays.items()}
    rule = "add_vjp" if op == "+" else "mul_vjp"
    lines = [f"{key} = {np.array2string(value, separator=', ')}  # {value.shape}" for key, value in inputs.items()]
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": True,
        "inputs": {"op": op, "transposed": False, **inputs},
        "shown": "\n".join([*lines, f"{rule}(g, a, b)"]),
        "instead": {"wrong_shape": misshapen},
    }


def draw_array(draw, shape):
    """Away from 0 and 1, where rules coincide; few digits, so that what is shown is what was used."""
    return np.asarray(np.round(draw.choice([-1.0, 1.0], shape) * draw.uniform(1.2, 3.0, shape), 3))


def draw_shapes(rng):
    """Two shapes of which at least one is copied along an axis that the other has with more than one entry."""
    while True:
        whole = [rng.choice([2, 3, 4]) for _ in range(rng.randint(2, 4))]
        a, b = (draw_part(rng, whole) for _ in range(2))
        if {a, b} != {np.broadcast_shapes(a, b)}:
            return a, b


def draw_part(rng, whole):
    kept = whole[rng.randint(0, len(whole) - 1) :]
    return tuple(1 if rng.random() < 0.4 else size for size in kept)


def bring_home(g, shape, join=np.sum):
    axes = tuple(range(g.ndim - len(shape)))
    axes += tuple(len(axes) + place for place, size in enumerate(shape) if size == 1)
    return join(g, axis=axes, keepdims=True).reshape(shape)


def apply(g, mine, other, op):
    return g * other if op == "*" else g


def take_first(g, shape):
    places = [0] * (g.ndim - len(shape)) + [slice(0, size) for size in shape]
    return g[tuple(places)]


def sum_first(g, mine, other, op):
    home = bring_home(g, mine.shape)
    return bring_home(home * other, mine.shape) if op == "*" else home


def sum_by_size(g, mine, other, op):
    """Sums over the axes of a size that the operand does not have."""
    left, axes = list(mine.shape), []
    for axis, size in enumerate(g.shape):
        if size in left:
            left.remove(size)
        else:
            axes.append(axis)
    summed = apply(g, mine, other, op).sum(axis=tuple(axes))
    return summed.reshape(mine.shape) if summed.size == mine.size else None


MISTAKES = {
    "mean-not-sum": lambda g, mine, other, op: bring_home(apply(g, mine, other, op), mine.shape, np.mean),
    "own-operand": lambda g, mine, other, op: bring_home(g * mine, mine.shape) if op == "*" else None,
    "ignores-upstream": lambda g, mine, other, op: bring_home(apply(np.ones_like(g), mine, other, op), mine.shape),
    "one-copy": lambda g, mine, other, op: take_first(apply(g, mine, other, op), mine.shape),
    "sums-too-early": sum_first,
    "axes-by-size": sum_by_size,
}


def is_near(got, wrong, by=NEAR):
    return wrong is not None and got.shape == wrong.shape and np.allclose(got, wrong, rtol=by, atol=by)
