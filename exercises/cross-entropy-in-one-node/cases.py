"""Cases: one row and a few, the mean and what it counts, then what floating point gets wrong, then random batches.

What random batches show rarely has its own case: a square, one class, one row, padding of every kind, a masked class,
logits of a thousand, two calls before one backward pass, memory in another order.
"""

import numpy as np

RANDOM_CASES = 4
NEAR = 1e-9
EPSILONS = [10.0**-power for power in range(3, 10)]
SINGLE = 1e-6  # as near as an answer gets with a step in float32
PADDING = -100


def draw_cases(rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    square = draw.permutation(4)
    apart = draw_logits(draw, (3, 4)) + np.array([[1000.0], [-1000.0], [0.0]])
    unlikely = draw_logits(draw, (2, 3)) + np.array([[0.0, 900.0, 0.0], [0.0, 0.0, 1200.0]])
    public = [
        case(draw, "one row", "A single row: loss and gradient", "forward", (1, 4), [2], g=1.0),
        case(draw, "upstream", "The loss is multiplied by something", "ignores-upstream", (1, 4), [1]),
        case(draw, "three rows", "The loss is a mean over rows", "gradient", (3, 4), [3, 0, 3]),
        case(draw, "a square", "As many rows as classes", "axis", (4, 4), [int(column) for column in square]),
        case(draw, "padding", "A row with target -100 does not count", "padding", (4, 3), [1, PADDING, 2, 0]),
        case(draw, "large logits", "Logits near 1000 and near -1000", "overflow", apart, [0, 2, 1]),
        case(draw, "an unlikely target", "The target's share is below any float", "overflow", unlikely, [0, 1]),
        draw_masked(draw),
        add_second(draw, case(draw, "two calls", "Two calls, one backward", "shared-state", (3, 4), [0, 3, 1])),
    ]
    return [*public, *map(hide, draw_corners(draw)), *(draw_random(draw, number) for number in range(RANDOM_CASES))]


def draw_corners(draw):
    view = case(draw, "transposed logits", "The logits are not contiguous in memory", "axis", (3, 5), [4, 0, 2])
    view["inputs"]["transposed"] = True
    equal = np.full((2, 3), round(draw.uniform(-2, 2), 2))
    padded = [PADDING, PADDING, 1, PADDING]
    second = case(draw, "two padded calls", "Two calls with padding", "shared-state", (4, 3), padded)
    return [
        case(draw, "one class", "A single class: the loss is 0", "gradient", (3, 1), [0, 0, 0]),
        case(draw, "one by one", "Shape (1, 1)", "gradient", (1, 1), [0]),
        case(draw, "all alike", "All logits are equal", "gradient", equal, [2, 0]),
        case(draw, "the same class", "All rows have the same target", "gradient", (5, 3), [1, 1, 1, 1, 1]),
        case(draw, "more classes than 100", "120 classes", "padding", (3, 120), [119, PADDING, 20]),
        case(draw, "mostly padding", "One row of four counts", "padding", (4, 3), padded),
        view,
        draw_masked(draw) | {"name": "other masked classes"},
        add_second(draw, second),
    ]


def draw_masked(draw):
    """Classes masked out by -inf, never the target; a padded row is masked too."""
    logits = draw_logits(draw, (4, 4))
    logits[0, 1] = logits[2, [0, 3]] = logits[3, 2] = -np.inf
    return case(draw, "masked classes", "A logit of -inf excludes its class", "masked", logits, [2, 0, 1, PADDING])


def draw_random(draw, number):
    rows, classes = int(draw.integers(2, 7)), int(draw.integers(2, 7))
    target = draw.integers(0, classes, rows)
    target[draw.random(rows) < 0.3] = PADDING
    target[int(draw.integers(rows))] = int(draw.integers(classes))
    logits = draw_logits(draw, (rows, classes)) + np.round(draw.uniform(-500, 500, (rows, 1)), 2)
    idea = f"Random batch {number + 1} of {RANDOM_CASES}"
    return hide(case(draw, f"random batch {number + 1}", idea, "larger", logits, target))


def case(draw, name, idea, finding, logits, target, g=None):
    logits = draw_logits(draw, logits) if isinstance(logits, tuple) else logits
    inputs = {"logits": logits, "target": np.asarray(target), "g": g or draw_upstream(draw), "transposed": False}
    not_finite = finding if finding in ("masked", "padding") else "overflow"
    found = {"name": name, "idea": idea, "finding": finding, "public": True, "inputs": inputs}
    return write(found | {"instead": {"not_finite": not_finite, "wrong_shape": "shape"}})


def draw_logits(draw, shape):
    return np.round(draw.uniform(-2, 2, shape), 2) + 0.001 * draw.permutation(np.prod(shape)).reshape(shape)


def draw_upstream(draw):
    return float(np.round(draw.choice([-1.0, 1.0]) * draw.uniform(1.3, 2.7), 2))


def add_second(draw, found):
    inputs = found["inputs"]
    second = {"logits": draw_logits(draw, inputs["logits"].shape), "target": inputs["target"][::-1].copy()}
    inputs |= {f"second {name}": value for name, value in second.items()} | {"second g": draw_upstream(draw)}
    return write(found)


def hide(found):
    return found | {"public": False, "shown": ""}


def write(found):
    inputs = found["inputs"]
    lines = []
    for side in ("", "second "):
        if side + "logits" in inputs:
            name = side.replace(" ", "_")
            logits, target = inputs[side + "logits"], inputs[side + "target"]
            lines.append(f"{name}logits = {np.array2string(logits, separator=', ')}")
            lines.append(f"{name}target = {target.tolist()}")
            lines.append(f"{name}loss = CrossEntropy.apply({name}logits, {name}target)")
    lines.append(f"loss.backward(torch.tensor({inputs['g']}), retain_graph=True)  # and once more")
    if "second g" in inputs:
        lines[-1] = (
            f"(loss * {inputs['g']} + second_loss * {inputs['second g']}).backward(retain_graph=True)  # twice"
        )
    return found | {"shown": "\n".join(lines)}


def diagnose(inputs, got, expected):
    """The misconception that gives exactly this answer, if there is one."""
    if got["gradients returned"] != expected["gradients returned"]:
        return "wrong-arity" if got["gradients returned"] else "second-backward"
    if "second logits" in inputs:
        return None  # each call alone is right, or an earlier case would have failed
    models = Models(inputs)
    if not is_near(got["loss"], expected["loss"]):
        return models.name_loss(got["loss"])
    if not is_near(got["gradient"], expected["gradient"]):
        return models.name_gradient(got["gradient"], expected["gradient"])
    if not is_near(got["gradient once more"], expected["gradient once more"]):
        return "second-backward"
    return None if got["your node alone"] else "not-your-node"


class Models:
    """Cross-entropy, put together wrongly."""

    def __init__(self, inputs):
        self.logits, self.target, self.g = inputs["logits"], inputs["target"], inputs["g"]
        self.counted = self.target != PADDING
        shifted = self.logits - self.logits.max(1, keepdims=True)
        self.share = np.exp(shifted)
        self.share /= self.share.sum(1, keepdims=True)
        self.column = np.where(self.counted, self.target, 0)
        with np.errstate(divide="ignore"):
            logs = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
        self.losses = -logs[np.arange(len(logs)), self.column]

    def name_loss(self, loss):
        rows, kept = len(self.target), self.losses[self.counted]
        others = [("counts-padding", kept.sum() / rows), ("sum-not-mean", kept.sum())]
        others += [("counts-padding", self.losses.mean()), ("sign", -kept.mean())]
        others.append(("divides-by-all", kept.sum() / self.logits.size))
        others.append(("axis", self.find_loss_of_columns()))
        if np.any(self.target > 0):
            others.append(("class-zero", self.losses[self.target > 0].mean()))
        for epsilon in EPSILONS:
            if is_near(loss, -np.log(np.exp(-kept) + epsilon).mean(), epsilon / 100):
                return "epsilon"
        if is_near(loss, kept.mean(), SINGLE):
            return "single-precision"
        codes = [code for code, wrong in others if is_near(loss, wrong)]
        is_plain = self.counted.all() and np.all(np.abs(self.logits) < 100)
        return codes[0] if codes else "forward" if is_plain else None

    def find_loss_of_columns(self):
        """The loss with each column normalised in place of each row."""
        with np.errstate(invalid="ignore", over="ignore"):
            shifted = self.logits - self.logits.max(0)
            logs = shifted - np.log(np.exp(shifted).sum(0))
        return -logs[np.arange(len(logs)), self.column][self.counted].mean()

    def name_gradient(self, ours, right):
        if not ours.any():
            return "no-gradient"
        if is_near(ours, right, SINGLE):
            return "single-precision"
        padded = ~self.counted
        if padded.any() and ours[padded].any() and is_near(ours[self.counted], right[self.counted]):
            return "padding-gradient"
        codes = [code for code, wrong in self.imagine() if wrong.shape == ours.shape and is_near(ours, wrong)]
        return codes[0] if codes else None

    def imagine(self):
        """The gradients that each misconception would give, for rows that all count or for those that do."""
        rows = np.arange(len(self.target))
        hot = np.zeros_like(self.share)
        hot[rows, self.column] = 1
        columns = self.share.copy()
        columns[:, self.column] -= 1
        for kept in (self.counted[:, None], np.ones((len(rows), 1))):
            mean = self.g * kept / self.counted.sum()
            yield "no-onehot", self.share * mean
            yield "sign", (hot - self.share) * mean
            yield "onehot-only", -hot * mean
            yield "columns", columns * mean
            yield "ignores-upstream", (self.share - hot) * kept / self.counted.sum()
            yield "scale-n", (self.share - hot) * kept * self.g
            yield "scale-n", (self.share - hot) * kept
            yield "divides-by-all", (self.share - hot) * kept * self.g / self.share.size
            yield "counts-padding", (self.share - hot) * kept * self.g / len(rows)


def is_near(got, wrong, bound=NEAR):
    return np.shape(got) == np.shape(wrong) and np.allclose(got, wrong, rtol=bound, atol=bound)
