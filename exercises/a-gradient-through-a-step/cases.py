"""Cases: quadratic losses, where each mistake has a formula, then other losses, several steps, one too wide."""

import numpy as np

RANDOM_CASES = 4
NEAR = 1e-8
WIDE = 20_000
KINDS = ("network", "parameter", "quadratic")

WRITTEN = {
    "quadratic": "(x * (A @ x)).sum() / 2 + (b * x).sum(); A is not symmetric",
    "network": "tanh(A @ sin(x + b)).pow(2).sum()",
    "parameter": "(tanh(A @ x) * w).sum() + (w * x.pow(3)).sum(); w is a Parameter",
    "linear": "(b * x).sum()",
    "wide": f"tanh(x * roll(x, 1) + b).sum(), with {WIDE} entries in x",
}


def draw_cases(rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    rows = [
        ("quadratic losses", "One step on a quadratic loss", "wrong-gradient", "quadratic", "quadratic", 3, 1),
        ("three steps", "Three steps on a quadratic loss", "wrong-gradient", "quadratic", "quadratic", 3, 3),
        ("networks", "The curvature depends on where the step starts", "wrong-gradient", "network", "network", 3, 1),
        (
            "parameters",
            "Parameters in the losses get no gradient",
            "leaves-gradients",
            "parameter",
            "parameter",
            3,
            2,
        ),
        ("a linear inner loss", "The inner gradient is constant", "no-curvature", "linear", "network", 3, 2),
        ("a wide loss", "The Hessian would take 3.2 GB", "builds-hessian", "wide", "wide", WIDE, 2),
    ]
    hidden = [
        ("one entry", "theta has one entry", "wrong-gradient", "network", "quadratic", 1, 1),
        ("a linear outer loss", "The outer gradient is constant", "wrong-gradient", "network", "linear", 4, 2),
        ("many steps", "Six steps", "wrong-gradient", "network", "network", 3, 6),
    ]
    cases = [case(draw, *row) for row in rows]
    for number in range(1, RANDOM_CASES + 1):
        kinds = rng.choice(KINDS), rng.choice(KINDS)
        size, steps = rng.randint(2, 6), rng.randint(1, 3)
        idea = f"Random losses {number} of {RANDOM_CASES}"
        hidden.append((f"random losses {number}", idea, "larger", *kinds, size, steps))
    return [*cases, *(case(draw, *row) | {"public": False, "shown": ""} for row in hidden)]


def case(draw, name, idea, finding, inner, outer, size, steps):
    side = 1 if inner == "wide" else size
    inputs = {"inner": inner, "outer": outer, "rate": float(np.round(draw.uniform(0.03, 0.09), 3)), "steps": steps}
    inputs |= {"theta": draw_array(draw, size)}
    for which in ("inner", "outer"):
        inputs |= {f"{which} matrix": draw_array(draw, (side, side)), f"{which} vector": draw_array(draw, size)}
    found = {"name": name, "idea": idea, "finding": finding, "public": True, "inputs": inputs, "shown": write(inputs)}
    return found | ({"slow": "builds-hessian"} if inner == "wide" else {})


def write(inputs):
    lines = [f"{which}(x) = {WRITTEN[inputs[which]]}" for which in ("inner", "outer")]
    if inputs["inner"] != "wide":
        for which in ("inner", "outer"):
            for letter, part in (("A", "matrix"), ("b", "vector")):
                value = np.array2string(inputs[f"{which} {part}"], separator=", ")
                lines.append(f"{letter} of {which} = {value}")
        lines.append(f"theta = {np.array2string(inputs['theta'], separator=', ')}")
    return "\n".join([*lines, f"rate = {inputs['rate']}, steps = {inputs['steps']}"])


def draw_array(draw, shape):
    return np.round(draw.choice([-1.0, 1.0], shape) * draw.uniform(0.3, 1.2, shape), 3)


def diagnose(inputs, got, expected):
    """The other quantity that the answer is, if it is one."""
    if got["a parameter has a .grad"]:
        return "leaves-gradients"
    if got["theta is changed"]:
        return "changes-inputs"
    ours, right = got["gradient"], expected["gradient"]
    if inputs["inner"] == inputs["outer"] == "quadratic":
        for code, wrong in Quadratic(inputs).imagine():
            if is_near(ours, wrong):
                return code
    return "inexact" if is_near(ours, right, 1e-3) else None


class Quadratic:
    """Two quadratic losses: their gradients and Hessians are known, and so is what each misconception computes."""

    def __init__(self, inputs):
        self.theta, self.rate, self.steps = inputs["theta"], inputs["rate"], inputs["steps"]
        self.curvature, self.outer_curvature = (
            (inputs[f"{which} matrix"] + inputs[f"{which} matrix"].T) / 2 for which in ("inner", "outer")
        )
        self.inner_vector, self.outer_vector = inputs["inner vector"], inputs["outer vector"]

    def inner(self, x):
        return self.curvature @ x + self.inner_vector

    def outer(self, x):
        return self.outer_curvature @ x + self.outer_vector

    def adapt(self, rate, steps):
        x = self.theta
        for _ in range(steps):
            x = x - rate * self.inner(x)
        return x

    def pull(self, gradient, rate, steps):
        for _ in range(steps):
            gradient = gradient - rate * self.curvature @ gradient
        return gradient

    def imagine(self):
        rate, steps = self.rate, self.steps
        end = self.adapt(rate, steps)
        yield "first-order", self.outer(end)
        if steps > 1:
            yield "last-step-only", self.pull(self.outer(end), rate, 1)
            once = self.adapt(rate, 1)
            yield "one-step", self.pull(self.outer(once), rate, 1)
            yield "one-step", self.outer(once)
            fixed = self.theta - rate * steps * self.inner(self.theta)
            yield "steps-from-start", self.outer(fixed) - rate * steps * self.curvature @ self.outer(fixed)
        yield "not-adapted", self.outer(self.theta)
        yield "not-adapted", self.pull(self.outer(self.theta), rate, steps)
        yield "inner-again", self.inner(end)
        yield "inner-again", self.pull(self.inner(end), rate, steps)
        yield "inner-again", self.inner(self.theta)
        yield "uphill", self.pull(self.outer(self.adapt(-rate, steps)), -rate, steps)
        yield "no-rate", self.pull(self.outer(self.adapt(1.0, steps)), 1.0, steps)
        yield "no-rate", self.pull(self.outer(end), 1.0, steps)
        yield "curvature-alone", self.outer(end) - self.pull(self.outer(end), rate, steps)
        yield "curvature-alone", self.pull(self.outer(end), rate, steps) - self.outer(end)
        yield "sum-of-losses", self.pull(self.outer(end), rate, steps) + self.inner(self.theta)


def is_near(got, wrong, bound=NEAR):
    return got.shape == wrong.shape and np.allclose(got, wrong, rtol=bound, atol=bound)
