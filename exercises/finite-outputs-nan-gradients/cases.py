"""Roots and distances with zeros among them, and trainings; what comes back is held against every known mistake."""

import numpy as np

NO_NUMBER = 1.2345e9
NEAR = 1e-7
STATIONS = 5
PLAIN = {"transposed": False, "needs_gradient": True}


def draw_cases(rng):
    together = "Two stations stand at the same place, besides each with itself"
    return [
        root_case(rng, "positive numbers", "Roots of positive numbers, tiny and large, and their gradients", zeros=0),
        root_case(
            rng, "zeros among them", "Some of the numbers are 0: their roots and their gradients are 0", zeros=3
        ),
        distance_case(rng, "a map", "Distances of five stations, each to itself 0, and the gradient of every place"),
        train_case(rng, "four steps", "Where four steps of training take the stations", steps=4),
        root_case(rng, "zeros alone", "Nothing but zeros", zeros=8, public=False),
        *draw_shapes(rng),
        distance_case(rng, "two in one place", together, twins=True, public=False),
        train_case(
            rng, "trained from one place", f"{together}, at the start of three steps", twins=True, public=False
        ),
    ]


def draw_shapes(rng):
    """Shapes and sizes that the other cases do not have."""
    shapes = {"a table": (4, 2), "one number": (), "no number": (0, 3), "one by one": (1, 1)}
    for name, shape in shapes.items():
        numbers = np.random.default_rng(rng.getrandbits(64))
        squares = np.asarray(numbers.uniform(0.1, 4, shape))
        if name in ("a table", "one by one"):
            squares[0, 0] = 0.0
        inputs = {"inputs": squares, "upstream": draw_upstream(numbers, shape)}
        yield ask_root(name, f"Numbers of shape {shape}", inputs)
    numbers = np.random.default_rng(rng.getrandbits(64))
    squares = numbers.uniform(0.1, 4, (3, 2))
    squares[numbers.integers(3), :] = 0.0, -0.0
    inputs = {"inputs": squares, "upstream": draw_upstream(numbers, (3, 2))}
    yield ask_root("a transposed table", "The numbers are not contiguous in memory", inputs, transposed=True)
    yield ask_root("no gradient wanted", "The input does not require a gradient", inputs, needs_gradient=False)
    tiny = np.array([1e-300, 1e-200, 0.0, 1e200])
    inputs = {"inputs": tiny, "upstream": draw_upstream(numbers, (4,))}
    yield ask_root("extremes", "The root of 1e-300 is 1e-150", inputs)


def ask_root(name, idea, inputs, *, transposed=False, needs_gradient=True):
    asked = {"ask": "root", "transposed": transposed, "needs_gradient": needs_gradient}
    return case(name, idea, "slope-changed", False, inputs | asked, "")


def diagnose(inputs, got, expected):
    if inputs["ask"] == "train":
        return diagnose_training(inputs, got, expected)
    if got["leaves a hook"]:
        return "hook-stays"
    zeros = find_zeros(inputs)
    values, wanted = got["values"], expected["values"]
    if not np.allclose(values[~zeros], wanted[~zeros], rtol=NEAR, atol=0.0):
        return "root-changed"
    if not near(values[zeros], wanted[zeros]):
        return "zero-is-lifted"
    return diagnose_gradients(inputs, got, expected, zeros)


def diagnose_gradients(inputs, got, expected, zeros):
    gradients = got["gradients"]
    if np.any(gradients == NO_NUMBER):
        return "nan-gradient"
    if zeros.all() and not got["depends on the input"]:
        return "zeros-without-graph"
    if not np.any(gradients) and inputs["needs_gradient"]:
        return "no-gradient"
    if inputs["ask"] == "root" and near(gradients[~zeros], expected["gradients"][~zeros]):
        return "slope-at-zero"
    return None


def diagnose_training(inputs, got, expected):
    if np.any(got["places"] == NO_NUMBER):
        return "nan-gradient"
    if np.array_equal(got["places"], inputs["places"]):
        return "nothing-moves"
    return "losses-changed" if near(got["places"], expected["places"]) else None


def near(got, wanted):
    return got.shape == wanted.shape and np.allclose(got, wanted, rtol=NEAR, atol=NEAR)


def find_zeros(inputs):
    """Where the answer's values should be 0."""
    if inputs["ask"] == "root":
        return inputs["inputs"] == 0
    return ((inputs["inputs"][:, None] - inputs["inputs"][None]) ** 2).sum(axis=-1) == 0


def root_case(rng, name, idea, *, zeros, public=True):
    numbers = np.random.default_rng(rng.getrandbits(64))
    places = numbers.permutation(8)
    squares = 10.0 ** numbers.uniform(-5, 2, size=8)
    # So small that even an epsilon of the type's own size shows.
    squares[places[-1]] = 10.0 ** numbers.uniform(-14, -12)
    squares[places[:zeros]] = 0.0
    upstream = draw_upstream(numbers, (8,))
    shown = f"squares = {write(squares)}\nroots = safe_sqrt(squares)\nroots.backward({write(upstream)})"
    return case(
        name, idea, "slope-changed", public, PLAIN | {"ask": "root", "inputs": squares, "upstream": upstream}, shown
    )


def distance_case(rng, name, idea, *, twins=False, public=True):
    numbers = np.random.default_rng(rng.getrandbits(64))
    places = draw_places(numbers, twins=twins)
    upstream = draw_upstream(numbers, (STATIONS, STATIONS))
    rows = ",\n  ".join(write(row) for row in places)
    shown = f"places = [{rows}]\ndistances(places).backward(upstream)"
    inputs = PLAIN | {"ask": "distances", "inputs": places, "upstream": upstream}
    return case(name, idea, "slope-changed", public, inputs, shown)


def train_case(rng, name, idea, *, steps=3, twins=False, public=True):
    numbers = np.random.default_rng(rng.getrandbits(64))
    times = np.triu(numbers.uniform(2, 9, size=(STATIONS, STATIONS)), 1)
    places = draw_places(numbers, twins=twins)
    inputs = {"ask": "train", "places": places, "times": times + times.T, "lr": 0.5, "steps": steps}
    shown = f"train(places, times, lr=0.5, steps={steps})\n{STATIONS} stations"
    return case(name, idea, "training-changed", public, inputs, shown)


def case(name, idea, finding, public, inputs, shown):
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": public,
        "inputs": inputs,
        "shown": shown if public else "",
    }


def draw_places(numbers, *, twins):
    """Places that are well apart, but for the twins."""
    while True:
        places = numbers.uniform(0, 8, size=(STATIONS, 2))
        apart = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=-1)) + 9 * np.eye(STATIONS)
        if apart.min() > 1.0:
            break
    if twins:
        places[numbers.integers(1, STATIONS)] = places[0]
    return places


def draw_upstream(numbers, shape):
    return np.asarray(numbers.uniform(0.5, 2.0, size=shape) * numbers.choice([-1.0, 1.0], size=shape))


def write(row):
    return "[" + ", ".join(f"{value:.6g}" for value in row) + "]"
