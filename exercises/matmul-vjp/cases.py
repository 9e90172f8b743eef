"""Cases: square matrices first, where a wrong order or transpose raises no error; the random ones come last."""

import numpy as np

RANDOM_SHAPES = 6
NEAR = 1e-9

SHARED = "One matrix serves the whole batch: its gradient is the sum over all uses"


CORNERS = [
    ("one size for all", (3, 3), (3, 3, 3)),
    ("one size for all, reversed", (3, 3, 3), (3, 3)),
    ("one size and two batch axes", (3, 3, 3), (3, 1, 3, 3)),
    ("both shared", (2, 1, 2, 3), (1, 2, 3, 2)),
    ("a batch of one", (1, 3, 2), (2, 3)),
]
"""Batch axes as long as the matrices: which axis was copied is a question of its place, not of its size."""


def draw_cases(rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    cases = [
        case(draw, "square matrices", "Which factor stands where, and which is transposed", (3, 3), (3, 3)),
        case(draw, "three sizes", "Matrices of three different sizes", (2, 3), (3, 4)),
        case(
            draw, "one row, one column", "A single number comes out, and a whole row gets a gradient", (1, 4), (4, 1)
        ),
        batch(draw, "a cubic batch", "In a batch, only the last two axes are transposed", (3, 3, 3), (3, 3, 3)),
        batch(draw, "a batch", "Each matrix of the batch has gradients of its own", (2, 3, 4), (2, 4, 2)),
        shared(draw, "a shared weight", (4, 2, 3), (3, 2)),
        shared(draw, "a shared first factor", (2, 3), (3, 3, 2)),
        shared(draw, "a batch axis of size 1", (1, 2, 3), (4, 3, 2)),
        *(hide(shared(draw, *row)) for row in CORNERS),
        hide(case(draw, "one by one", "Matrices of a single entry", (1, 1), (1, 1))),
        hide(batch(draw, "transposed arrays", "The arrays are not contiguous in memory", (2, 3, 4), (2, 4, 3))),
    ]
    cases[-1]["inputs"]["transposed"] = True
    for number in range(1, RANDOM_SHAPES + 1):
        a, b = draw_shapes(rng, lacking=(0, 2) if number == 1 else None)
        idea = f"Random shapes {number} of {RANDOM_SHAPES}, new in every run"
        found = case(draw, f"random shapes {number}", idea, a, b, "larger-shapes", "larger-shapes")
        cases.append(hide(found))
    return cases


def hide(drawn):
    return drawn | {"public": False, "shown": ""}


def diagnose(inputs, got, expected):
    """The misconception that gives exactly these two gradients, if there is one."""
    g, a, b = (inputs[name] for name in ("g", "a", "b"))
    for code, model in MISTAKES:
        try:
            wrong = model(g, a, b)
        except ValueError:
            continue
        if all(is_near(got[name], value) for name, value in zip(("ga", "gb"), wrong, strict=True)):
            return code
    return diagnose_one(inputs, got, expected)


def diagnose_one(inputs, got, expected):
    """One of the two may be right, and the other tell what was thought."""
    g, a, b = (inputs[name] for name in ("g", "a", "b"))
    right = [is_near(got[name], expected[name]) for name in ("ga", "gb")]
    for code, model in MISTAKES:
        try:
            wrong = model(g, a, b)
        except ValueError:
            continue
        near = [is_near(got[name], value) for name, value in zip(("ga", "gb"), wrong, strict=True)]
        if any(near) and all(n or r for n, r in zip(near, right, strict=True)):
            return code
    return None


def case(draw, name, idea, a, b, finding="wrong-vjp", misshapen="wrong-vjp"):
    batch = np.broadcast_shapes(a[:-2], b[:-2])
    inputs = {"g": draw_array(draw, (*batch, a[-2], b[-1])), "a": draw_array(draw, a), "b": draw_array(draw, b)}
    lines = [f"{key} = {np.array2string(value, separator=', ')}  # {value.shape}" for key, value in inputs.items()]
    inputs["transposed"] = False
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": True,
        "inputs": inputs,
        "shown": "\n".join([*lines, "matmul_vjp(g, a, b)"]),
        "instead": {"wrong_shape": misshapen},
    }


def batch(draw, name, idea, a, b):
    return case(draw, name, idea, a, b, "each-matrix", "each-matrix")


def shared(draw, name, a, b):
    return case(draw, name, SHARED, a, b, "shared-factor", "shared-factor")


def draw_array(draw, shape):
    """Away from 0 and 1; few digits, so that what is shown is what was used."""
    return np.round(draw.choice([-1.0, 1.0], shape) * draw.uniform(1.2, 3.0, shape), 2)


def draw_shapes(rng, lacking=None):
    """Two shapes, each with none, one or both axes of a batch. `lacking`: how many they lack, in either order."""
    batch = [rng.choice([2, 3]) for _ in range(2)]
    chance = 0.0 if lacking else 0.3
    lacking = rng.sample(lacking, 2) if lacking else [rng.randint(0, 2) for _ in range(2)]
    n, k, m = (rng.choice([1, 2, 3, 4]) for _ in range(3))
    a, b = (
        (*(1 if rng.random() < chance else size for size in batch[left:]), *matrix)
        for left, matrix in zip(lacking, ((n, k), (k, m)), strict=True)
    )
    return a, b


def turn(x):
    return np.swapaxes(x, -1, -2)


def bring_home(gradient, shape, join=np.sum):
    missing = gradient.ndim - len(shape)
    axes = tuple(range(missing)) + tuple(missing + place for place, size in enumerate(shape[:-2]) if size == 1)
    return join(gradient, axis=axes, keepdims=True).reshape(shape)


def take_first(gradient, shape):
    return gradient[tuple([0] * (gradient.ndim - len(shape)) + [slice(0, size) for size in shape])]


def home(ga, gb, a, b):
    return bring_home(ga, a.shape), bring_home(gb, b.shape)


MISTAKES = (
    ("no-transpose", lambda g, a, b: home(g @ b, a @ g, a, b)),
    ("order-of-a", lambda g, a, b: home(turn(b) @ g, g @ turn(a), a, b)),
    ("order-of-b", lambda g, a, b: home(g @ turn(b), g @ turn(a), a, b)),
    ("order-of-a", lambda g, a, b: home(turn(b) @ g, turn(a) @ g, a, b)),
    ("result-transposed", lambda g, a, b: home(b @ turn(g), turn(g) @ a, a, b)),
    ("pair-swapped", lambda g, a, b: (turn(a) @ g, g @ turn(b))),
    ("batch-transpose", lambda g, a, b: home((b @ g.T).T, (g.T @ a).T, a, b)),
    ("batch-transpose", lambda g, a, b: home(g @ b.T, a.T @ g, a, b)),
    ("ignores-upstream", lambda g, a, b: home(np.ones_like(g) @ turn(b), turn(a) @ np.ones_like(g), a, b)),
    (
        "mean-not-sum",
        lambda g, a, b: (bring_home(g @ turn(b), a.shape, np.mean), bring_home(turn(a) @ g, b.shape, np.mean)),
    ),
    ("one-of-the-batch", lambda g, a, b: (take_first(g @ turn(b), a.shape), take_first(turn(a) @ g, b.shape))),
)


def is_near(got, wrong):
    return got.shape == wrong.shape and np.allclose(got, wrong, rtol=NEAR, atol=NEAR)
