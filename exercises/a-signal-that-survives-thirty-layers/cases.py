"""Activations whose second moment no known shortcut gets right."""

import math

import numpy as np

NEAR = 4e-3
APART = 4e-2
ROUGH = 0.06
Z = np.linspace(-9, 9, 4001)
DENSITY = np.exp(-(Z**2) / 2)
DENSITY /= DENSITY.sum()
SLOPE = 1e-4
ALWAYS_APART = {"activation-ignored", "always-relu", "variance-not-std", "inverted", "moment-without-root"}


def draw_cases(rng):
    cases = [
        # The sigmoid comes first, because half of the mistakes give the same number on a line or on the ReLU.
        case("sigmoid", "An activation whose mean is not 0", "wrong", [100, 400], "sigmoid"),
        case("identity", "Without an activation", "identity", [64, 256, 1024], "identity"),
        case("relu", "With the ReLU", "wrong", [64, 256, 1024], "relu"),
        case("tanh", "A bounded activation", "wrong", [64, 256, 1024], "tanh"),
        draw(rng, "leaky relu", "A leaky ReLU with a slope drawn anew", "leaky relu", (0.2, 0.6), (0.0, 0.0)),
        draw(rng, "scaled tanh", "A tanh that is steep, and scaled", "scaled tanh", (0.3, 0.6), (2.0, 4.0)),
        draw(rng, "shifted relu", "A ReLU that starts above 0", "shifted relu", (0.4, 0.8), (0.0, 0.0)),
        draw(rng, "sine", "A sine with an offset", "sine", (1.0, 2.0), (0.3, 0.8)),
        draw(rng, "hard tanh", "A clipped line", "hard tanh", (0.7, 1.5), (0.0, 0.0)),
        draw(rng, "bump", "A bump beside 0, with an offset", "bump", (0.5, 1.0), (0.2, 0.4)),
        draw(rng, "small values", "An activation with tiny values", "scaled tanh", (1e-4, 2e-4), (1.5, 3.0)),
        case("one input", "A layer with one input, and a very wide one", "fan-in", [1, 2, 65536], "silu"),
    ]
    for hidden in cases[5:]:
        hidden |= {"public": False, "shown": ""}
    return cases


def draw(rng, name, idea, shape, low_high_a, low_high_b):
    """Parameters with which the mistakes that every shape can show give numbers of their own."""
    while True:
        a, b = float(rng.uniform(*low_high_a)), float(rng.uniform(*low_high_b))
        fan_ins = [rng.randint(128, 256), rng.randint(512, 4096)]
        drawn = case(name, idea, "wrong", fan_ins, shape, a, b)
        truth = compute(drawn["inputs"])
        wrong = [numbers for code, numbers in list_wrong(drawn["inputs"]) if code in ALWAYS_APART]
        if not any(is_near(numbers, truth, APART) for numbers in wrong):
            return drawn


def case(name, idea, finding, fan_ins, shape, a=0.0, b=0.0):
    formula = FORMULAS[shape].format(a=a, b=b)
    shown = f"activation = lambda z: {formula}\n[init_std(fan_in, activation) for fan_in in {fan_ins}]"
    inputs = {"fan_ins": fan_ins, "activation": shape, "a": a, "b": b}
    labels = {"stds": {f"fan_in {fan_in}": [] for fan_in in fan_ins}}
    facts = {"name": name, "idea": idea, "finding": finding, "public": True}
    return {**facts, "inputs": inputs, "shown": shown, "labels": labels}


def diagnose(inputs, got, expected):
    """The mistake that gives these numbers, if there is exactly one."""
    stds = [float(std) for std in got["stds"]]
    if any(std <= 0 for std in stds):
        return "not-positive"
    if len(stds) > 1 and is_near(stds, [stds[0]] * len(stds), NEAR):
        return "constant"
    fits = {code for code, wrong in list_wrong(inputs) if is_near(stds, wrong, NEAR)}
    if not fits & {"table-of-gains", "half-variance"} and is_near(stds, expected["stds"], ROUGH):
        return "too-rough"
    if len(fits) == 1:
        return fits.pop()
    ratios = [std / wanted for std, wanted in zip(stds, expected["stds"], strict=True)]
    return None if fits or is_near(ratios, [ratios[0]] * len(ratios), NEAR) else "fan-in"


def is_near(got, wrong, distance):
    return all(math.isclose(a, b, rel_tol=distance) for a, b in zip(got, wrong, strict=True))


def compute(inputs):
    square = np.sum(DENSITY * apply(inputs, Z) ** 2)
    return [1 / math.sqrt(fan_in * square) for fan_in in inputs["fan_ins"]]


def list_wrong(inputs):
    """The known mistakes with their numbers, the narrower ones first."""
    values, slopes = apply(inputs, Z), (apply(inputs, Z + SLOPE) - apply(inputs, Z - SLOPE)) / (2 * SLOPE)
    at_zero = abs(float(apply(inputs, SLOPE) - apply(inputs, -SLOPE))) / (2 * SLOPE)
    square, mean = np.sum(DENSITY * values**2), np.sum(DENSITY * values)
    wrong = [
        ("activation-ignored", lambda n: 1 / math.sqrt(n)),
        ("always-relu", lambda n: math.sqrt(2 / n)),
        ("variance-not-std", lambda n: 1 / (n * square)),
        ("variance-not-std", lambda n: 1 / n),
        ("variance-not-std", lambda n: 2 / n),
        ("inverted", lambda n: math.sqrt(square / n)),
        ("moment-without-root", lambda n: 1 / (math.sqrt(n) * square)),
        ("variance-taken", lambda n: 1 / math.sqrt(n * (square - mean**2))),
        ("absolute-mean", lambda n: 1 / (math.sqrt(n) * np.sum(DENSITY * np.abs(values)))),
        ("half-variance", lambda n: 1 / math.sqrt(n * np.sum(DENSITY * apply(inputs, Z / math.sqrt(2)) ** 2))),
        ("slopes", lambda n: 1 / math.sqrt(n * np.sum(DENSITY * slopes**2))),
    ]
    if at_zero > SLOPE:
        wrong.append(("slope-at-zero", lambda n: 1 / (at_zero * math.sqrt(n))))
    if inputs["activation"] == "tanh":
        wrong.append(("table-of-gains", lambda n: 5 / 3 / math.sqrt(n)))
    for low, high in ((-1, 1), (0, 1), (-math.sqrt(3), math.sqrt(3)), (-2, 2), (-3, 3), (-4, 4), (-5, 5), (-6, 6)):
        even = np.mean(apply(inputs, np.linspace(low, high, 2001)) ** 2)
        wrong.append(("not-normal", lambda n, even=even: 1 / math.sqrt(n * even)))
    return [(code, [float(model(n)) for n in inputs["fan_ins"]]) for code, model in wrong]


def apply(inputs, z):
    return VALUES[inputs["activation"]](z, inputs["a"], inputs["b"])


# As in probe.py, written a second time: what judges shares no code with what runs beside the learner's.
VALUES = {
    "identity": lambda z, a, b: z,
    "relu": lambda z, a, b: z * (z > 0),
    "tanh": lambda z, a, b: 1 - 2 / (1 + np.exp(2 * z)),
    "leaky relu": lambda z, a, b: np.maximum(z, a * z),
    "silu": lambda z, a, b: z / (1 + np.exp(-z)),
    "sigmoid": lambda z, a, b: 1 / (1 + np.exp(-z)),
    "scaled tanh": lambda z, a, b: a * (1 - 2 / (1 + np.exp(2 * b * z))),
    "shifted relu": lambda z, a, b: (z - a) * (z > a),
    "sine": lambda z, a, b: np.sin(a * z) + b,
    "hard tanh": lambda z, a, b: np.minimum(np.maximum(a * z, -1), 1),
    "bump": lambda z, a, b: np.exp(-((z - a) ** 2)) + b,
}
FORMULAS = {
    "identity": "z",
    "relu": "np.maximum(z, 0)",
    "tanh": "np.tanh(z)",
    "leaky relu": "np.where(z > 0, z, {a:.3f} * z)",
    "silu": "z / (1 + np.exp(-z))",
    "sigmoid": "1 / (1 + np.exp(-z))",
    "scaled tanh": "{a:.3g} * np.tanh({b:.3f} * z)",
    "shifted relu": "np.maximum(z - {a:.3f}, 0)",
    "sine": "np.sin({a:.3f} * z) + {b:.3f}",
    "hard tanh": "np.clip({a:.3f} * z, -1, 1)",
    "bump": "np.exp(-((z - {a:.3f}) ** 2)) + {b:.3f}",
}
