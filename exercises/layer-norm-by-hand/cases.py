"""Cases: the values and each gradient first, then what a formula gets wrong only for some rows, then random ones.

What random tensors show rarely has its own case: a square, rows far from zero, constant and single entries, no rows,
frozen parameters, two calls before one backward pass, memory in another order.
"""

import numpy as np

RANDOM_CASES = 4
NEAR = 1e-8
WRONG = {"x": "gradient-of-x", "weight": "gradient-of-weight", "bias": "gradient-of-bias"}
GRADIENTS = [f"gradient of {name}" for name in WRONG]


def draw_cases(rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    public = [
        ("one row", "A single row: the value, and the gradient of x", "gradient-of-x", (1, 5), 0.1),
        ("a few rows", "The parameters are shared by all rows", "gradient-of-weight", (3, 4), 0.01),
        ("a square", "As many rows as columns", "axis", (4, 4), 0.01),
        ("three dimensions", "Only the last dimension is normalised", "axis", (2, 3, 4), 0.001),
        ("a large eps", "eps is added to the variance", "eps-place", (3, 4), 1.5),
    ]
    cases = [case(draw, *row) for row in public]
    cases.append(draw_far(draw, 100_000))
    cases.append(draw_constant(draw))
    frozen = case(draw, "a frozen weight", "The weight requires no gradient", "frozen", (3, 4), 0.01)
    cases.append(freeze(frozen, "weight"))
    cases.append(add_second(draw, case(draw, "two calls", "Two calls, one backward", "shared-state", (3, 4), 0.01)))
    return [*cases, *map(hide, draw_corners(draw)), *(draw_random(draw, number) for number in range(RANDOM_CASES))]


def draw_corners(draw):
    view = case(draw, "a transposed input", "x is not contiguous in memory", "axis", (3, 5), 0.01)
    view["inputs"]["transposed"] = True
    only_weight = case(draw, "only the weight", "Only the weight requires a gradient", "frozen", (2, 3), 0.01)
    only_bias = case(draw, "only the bias", "Only the bias requires a gradient", "frozen", (2, 3), 0.01)
    plain = case(draw, "nothing to train", "Nothing requires a gradient", "frozen", (2, 3), 0.01)
    return [
        case(draw, "a vector", "x has one dimension", "axis", (6,), 0.01),
        case(draw, "four dimensions", "x has four dimensions", "axis", (2, 1, 3, 4), 0.01),
        case(draw, "a cube", "All sizes are equal", "axis", (3, 3, 3), 0.01),
        case(draw, "one entry", "A row of one entry", "constant-row", (3, 1), 0.01),
        case(draw, "one by one", "Shape (1, 1)", "constant-row", (1, 1), 0.01),
        case(draw, "no rows", "Shape (0, 4)", "no-rows", (0, 4), 0.01),
        draw_far(draw, -300_000),
        view,
        freeze(only_weight, "x", "bias"),
        freeze(only_bias, "x", "weight"),
        freeze(plain, "x", "weight", "bias"),
        add_second(draw, case(draw, "two calls of a cube", "Two calls again", "shared-state", (3, 3, 3), 0.2)),
    ]


def draw_far(draw, middle):
    """Rows whose entries are far from zero and close to each other."""
    found = case(draw, f"around {middle}", "Rows far from zero", "cancellation", (3, 6), 0.001)
    found["inputs"]["x"] += middle
    return write(found)


def draw_constant(draw):
    found = case(draw, "a constant row", "A row without variance", "constant-row", (3, 4), 0.04)
    found["inputs"]["x"][1] = round(draw.uniform(0.5, 2.0), 1)
    return write(found)


def draw_random(draw, number):
    shape = (*(int(size) for size in draw.integers(1, 5, draw.integers(1, 4))), int(draw.integers(2, 7)))
    idea = f"Random shape {number + 1} of {RANDOM_CASES}"
    return hide(case(draw, f"random shape {number + 1}", idea, "larger", shape, float(draw.choice([1e-5, 0.1, 1.0]))))


def case(draw, name, idea, finding, shape, eps):
    inputs = draw_side(draw, shape) | {"eps": eps, "frozen": [], "transposed": False}
    found = {"name": name, "idea": idea, "finding": finding, "public": True, "inputs": inputs}
    not_finite = finding if finding in ("constant-row", "no-rows", "cancellation") else "not-finite"
    return write(found | {"instead": {"not_finite": not_finite, "wrong_shape": "shape"}})


def draw_side(draw, shape):
    width = shape[-1:]
    return {"x": draw_x(draw, shape), "g": signed(draw, shape), "weight": signed(draw, width)} | {
        "bias": signed(draw, width)
    }


def draw_x(draw, shape):
    """Rows of different middles and widths."""
    rows = (*shape[:-1], 1)
    return np.round(draw.uniform(-2, 2, rows) + draw.uniform(0.5, 1.5, rows) * signed(draw, shape), 3)


def signed(draw, shape):
    return np.asarray(np.round(draw.choice([-1.0, 1.0], shape) * draw.uniform(0.5, 2.0, shape), 3))


def freeze(found, *names):
    found["inputs"]["frozen"] = list(names)
    return write(found)


def add_second(draw, found):
    second = draw_side(draw, found["inputs"]["x"].shape)
    found["inputs"] |= {f"second {name}": value for name, value in second.items()}
    return write(found)


def hide(found):
    return found | {"public": False, "shown": ""}


def write(found):
    inputs = found["inputs"]
    arrays = [(name.replace(" ", "_"), value) for name, value in inputs.items() if isinstance(value, np.ndarray)]
    lines = [f"{name} = {np.array2string(value, separator=', ')}" for name, value in arrays]
    lines.append(f"eps = {inputs['eps']}")
    if inputs["frozen"]:
        lines.append(f"requires no gradient: {', '.join(inputs['frozen'])}")
    lines.append("y = LayerNorm.apply(x, weight, bias, eps)")
    if "second x" in inputs:
        lines.append("second_y = LayerNorm.apply(second_x, second_weight, second_bias, eps)")
        lines.append("torch.autograd.backward([y, second_y], [g, second_g])")
    return found | {"shown": "\n".join(lines)}


def diagnose(inputs, got, expected):
    """The misconception that gives exactly this answer, if there is one."""
    if got["gradients returned"] != expected["gradients returned"]:
        return "wrong-arity"
    if not got["shapes fit"]:
        return "gradient-shape"
    parts = Parts(inputs)
    if not is_near(got["y"], expected["y"]):
        return parts.name_value(got["y"])
    if "second x" in inputs:
        return None  # each call alone is right, or an earlier case would have failed
    if inputs["frozen"]:
        return None  # and so is every gradient, as long as all of them are asked for
    if not all(is_near(got[name], expected[name]) for name in GRADIENTS):
        return parts.name_gradients(got, expected)
    return None if got["your node alone"] else "not-your-node"


class Parts:
    """The pieces of a layer norm, to put together wrongly."""

    def __init__(self, inputs):
        self.x, self.g, self.weight, self.bias, self.eps = (
            inputs[name] for name in ("x", "g", "weight", "bias", "eps")
        )
        self.centred = self.x - self.x.mean(-1, keepdims=True)
        self.variance = np.square(self.centred).mean(-1, keepdims=True)
        self.scale = 1 / np.sqrt(self.variance + self.eps)
        self.normal = self.centred * self.scale
        self.rows = tuple(range(self.x.ndim - 1))  # for a vector empty, which numpy takes as no axis

    def name_value(self, y):
        width = self.x.shape[-1]
        others = {"eps-place": self.centred / (np.sqrt(self.variance) + self.eps) * self.weight + self.bias}
        others["no-parameters"] = self.normal
        if width > 1:
            unbiased = self.variance * width / (width - 1)
            others["unbiased"] = self.centred / np.sqrt(unbiased + self.eps) * self.weight + self.bias
        for axis in (None, 0):
            centred = self.x - self.x.mean(axis, keepdims=True)
            scale = np.sqrt(np.square(centred).mean(axis, keepdims=True) + self.eps)
            if is_near(y, centred / scale * self.weight + self.bias):
                return "axis"
        codes = [code for code, wrong in others.items() if is_near(y, wrong)]
        return codes[0] if codes else "forward" if np.all(np.abs(self.x) < 1000) and self.x.ndim == 2 else None

    def name_gradients(self, got, expected):
        """What the first wrong gradient is."""
        for name, wrongs in (
            ("x", self.imagine_x()),
            ("weight", self.imagine_weight()),
            ("bias", self.imagine_bias()),
        ):
            ours, right = got[f"gradient of {name}"], expected[f"gradient of {name}"]
            if is_near(ours, right):
                continue
            if right.any() and not ours.any():
                return "no-gradient"
            codes = [code for code, wrong in wrongs if is_near(ours, wrong)]
            return codes[0] if codes else WRONG[name] if self.x.ndim == 2 and self.is_plain() else None
        return None

    def is_plain(self):
        return bool(np.all(np.abs(self.x) < 1000) and self.x.shape[0] != self.x.shape[-1] and self.variance.all())

    def imagine_x(self):
        g, n, s, w = self.g, self.normal, self.scale, self.weight
        yield "ignores-statistics", g * w * s
        yield "ignores-statistics", g * w * np.sqrt(self.variance + self.eps)
        yield "ignores-variance", s * (g * w - mean(g * w))
        yield "ignores-mean", s * (g * w - n * mean(g * w * n))
        yield "ignores-weight", s * (g - mean(g) - n * mean(g * n))
        yield "ignores-weight", s * (g * w - mean(g * w) - n * mean(g * n))
        yield "ignores-weight", s * (g * w - mean(g) - n * mean(g * n))
        with np.errstate(divide="ignore", invalid="ignore"):
            yield "eps-in-backward", (g * w - mean(g * w) - n * mean(g * w * n)) / np.sqrt(self.variance)
        yield "weight-outside", w * s * (g - mean(g) - n * mean(g * n))
        yield "forgets-scale", g * w - mean(g * w) - n * mean(g * w * n)
        out = n * w + self.bias
        for held in (out, n * w):
            yield "saved-overwritten", s * (g * w - mean(g * w) - held * mean(g * w * held))
        whole = (g * w).sum(-1, keepdims=True), (g * w * n).sum(-1, keepdims=True)
        yield "sums-for-means", s * (g * w - whole[0] - n * whole[1])
        yield "ignores-upstream", s * (w - w.mean() - n * mean(w * n))

    def imagine_weight(self):
        n, out = self.normal, self.normal * self.weight + self.bias
        for factor in (n, self.centred, self.x):
            code = "gradient-of-weight" if factor is not n else "averaged"
            yield code, (self.g * factor).sum(self.rows)
            yield "averaged", (self.g * factor).mean(self.rows) if self.x.size else factor
        for held in (out, n * self.weight):
            yield "saved-overwritten", (self.g * held).sum(self.rows)
        yield "ignores-upstream", n.sum(self.rows)
        yield "exchanged", self.g.sum(self.rows)
        if self.x.shape[0] == self.x.shape[-1]:
            yield "axis", (self.g * n).sum(tuple(range(1, self.x.ndim)))

    def imagine_bias(self):
        yield "averaged", self.g.mean(self.rows) if self.x.size else self.g
        yield "ignores-upstream", np.ones_like(self.g).sum(self.rows)
        if self.x.shape[0] == self.x.shape[-1]:
            yield "axis", self.g.sum(tuple(range(1, self.x.ndim)))


def mean(array):
    return array.mean(-1, keepdims=True)


def is_near(got, wrong):
    return got.shape == wrong.shape and np.allclose(got, wrong, rtol=NEAR, atol=NEAR)
