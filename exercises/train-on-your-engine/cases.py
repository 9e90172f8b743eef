"""Cases: single rules, then sharing and order, then the network and its training, then all of it on random ones."""

import numpy as np

RANDOM_GRAPHS = 3
LONG_RUN = 4000
MOST_IMAGINED = 12
"""Steps of training that are replayed with each misconception; some of those runs diverge."""
NEAR = 1e-8
NAMES = ("w1", "b1", "w2", "b2")

LEAF = {
    "table": (3, 4),
    "other": (3, 4),
    "third": (3, 4),
    "fourth": (3, 4),
    "row": (4,),
    "another row": (4,),
    "column": (3, 1),
    "square": (3, 3),
    "another": (3, 3),
    "a third square": (3, 3),
    "row of three": (3,),
    "flat row": (1, 4),
    "tall": (4, 1),
    "one by one": (1, 1),
    "single": (1,),
    "scalar": (),
    "whole table": (3, 4),
    "whole row": (4,),
    "whole number": (),
}
WHOLE = "whole"
"""Leaves of that name hold integers, and come as lists or as a Python int."""
COPIES = {"row": 3, "another row": 3, "column": 4}
"""How often each is used beside a table."""


def draw_cases(rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    cases = [*draw_rules(draw), *draw_shared(draw), *draw_networks(draw), *draw_corners(draw)]
    for number in range(1, RANDOM_GRAPHS + 1):
        idea = f"Random graph {number} of {RANDOM_GRAPHS}: shared values, broadcasting, products"
        steps = draw_graph(rng)
        cases.append(
            graph_case(draw, f"random graph {number}", idea, "larger", steps) | {"public": False, "shown": ""}
        )
    gated = {"network": "gated", "steps_of_training": 5}
    walk, train = gated | {"ask": "network gradients"}, gated | {"ask": "training"}
    long = {"ask": "training", "steps_of_training": LONG_RUN}
    hidden = [
        ("other layers", "Gradients of a network that the task does not name", "larger", walk),
        ("training others", "train knows nothing of what it trains", "other-network", train),
        ("a long run", f"{LONG_RUN} steps, each as quick as the first", "slow", long),
    ]
    cases += [network_case(draw, *row) | {"public": False, "shown": "", "slow": "slow"} for row in hidden]
    return cases


def draw_rules(draw):
    """One operation each, times a leaf, so that the upstream gradient differs by entry; each leaf is used once."""
    gradients = [
        ("sum()", "Every entry gets the one upstream number", "sum-rule", ["table"], [["sum", 0]]),
        ("entry by entry", "A product of equal shapes", "mul-rule", ["table", "other"], [["*", 0, 1], ["sum", 2]]),
        (
            "a sum and a difference",
            "Signs: + and -",
            "add-rule",
            ["table", "other", "third", "fourth"],
            [["-", 0, 1], ["+", 4, 2], ["*", 5, 3], ["sum", 6]],
        ),
        (
            "tanh",
            "The upstream gradient times 1 - tanh(x)**2",
            "tanh-rule",
            ["table", "other"],
            [["tanh", 0], ["*", 2, 1], ["sum", 3]],
        ),
        (
            "a matrix product",
            "The order of the factors, and which one is transposed",
            "matmul-rule",
            ["square", "another", "a third square"],
            [["@", 0, 1], ["*", 3, 2], ["sum", 4]],
        ),
        (
            "a row and a column",
            "Broadcasting: sums over the copies, in the operand's own shape",
            "unbroadcast",
            ["table", "row", "column", "another row"],
            [["+", 0, 1], ["*", 4, 2], ["-", 5, 3], ["sum", 6]],
        ),
        (
            "the other way round",
            "The operand that is copied is on the left",
            "unbroadcast",
            ["row", "table", "column", "another row"],
            [["-", 0, 1], ["*", 2, 4], ["+", 3, 5], ["sum", 6]],
        ),
    ]
    operations = [["+", 0, 1], ["-", 0, 1], ["*", 0, 1], ["@", 0, 1], ["tanh", 0], ["sum", 0]]
    every = [*name_leaves("square", "another"), *operations]
    values = graph_case(draw, "values", "All operations compute the right numbers", "forward", every, "values")
    return [values, *(graph_case(draw, *row[:3], [*name_leaves(*row[3]), *row[4]]) for row in gradients)]


def name_leaves(*names):
    return [["leaf", name] for name in names]


def draw_shared(draw):
    squares = name_leaves("square", "another")
    uneven = [*squares, ["*", 0, 1], ["tanh", 2], ["*", 3, 1], ["+", 2, 4], ["*", 5, 0], ["sum", 6]]
    twins = [*squares, ["*", 0, 1], ["+", 0, 1], ["@", 2, 3], ["sum", 4]]
    two = [*squares, ["*", 0, 1], ["sum", 2], ["tanh", 0], ["sum", 4]]
    mixed = [*name_leaves("table", "row"), ["*", 0, 1], ["tanh", 2], ["-", 3, 0], ["sum", 4]]
    return [
        graph_case(
            draw, "used twice", "A value with several uses gets the sum of its gradients", "overwrites", twins
        ),
        graph_case(draw, "an uneven diamond", "A node waits for everything that used it", "order", uneven),
        graph_case(
            draw, "two outputs", "A second backward adds to what the first one left", "resets", two, outputs=[3, 5]
        ),
        graph_case(draw, "the graph", "Each result knows its operands and its operation", "no-graph", mixed, "graph"),
    ]


def draw_corners(draw):
    """What a random graph hits rarely, or never."""
    sizes = name_leaves("table", "flat row", "column", "one by one", "single", "scalar")
    steps = [*sizes, ["*", 0, 1], ["+", 6, 2], ["*", 7, 3], ["-", 8, 4], ["*", 9, 5], ["sum", 10]]
    outer = [*name_leaves("flat row", "column", "table"), ["*", 0, 1], ["*", 3, 2], ["sum", 4]]
    itself = [*name_leaves("square"), ["*", 0, 0], ["-", 1, 0], ["@", 2, 2], ["+", 3, 3], ["sum", 4]]
    ends = [*name_leaves("flat row", "tall", "single", "scalar"), ["@", 0, 1], ["*", 2, 3]]
    whole = [*name_leaves("whole table", "whole row", "whole number"), ["*", 0, 1], ["tanh", 3], ["*", 4, 2]]
    zeros = [*name_leaves("square", "another"), ["*", 0, 1], ["@", 2, 0], ["tanh", 3], ["+", 4, 2], ["sum", 5]]
    fitting = [*name_leaves("square", "row of three"), ["*", 0, 1], ["-", 1, 2], ["*", 3, 0], ["sum", 4]]
    cases = [
        graph_case(draw, "axes of size 1", "Operands of shape (1, 4), (1, 1), (1,) and ()", "unbroadcast", steps),
        graph_case(draw, "both are copied", "A row times a column: both operands are copied", "unbroadcast", outer),
        graph_case(draw, "equal sizes", "A row of three beside a 3 by 3 table", "unbroadcast", fitting),
        graph_case(draw, "with itself", "Both operands are the same Array", "overwrites", itself),
        graph_case(draw, "one entry", "backward() of shape (1, 1) and of shape (1,)", "seed", ends, outputs=[4, 5]),
        graph_case(draw, "whole numbers", "Leaves made of Python integers", "integer-data", [*whole, ["sum", 5]]),
        graph_case(
            draw,
            "values of whole numbers",
            "data is float64, whatever it was made of",
            "integer-data",
            whole,
            "values",
        ),
        graph_case(draw, "zeros", "Entries that are zero", "mul-rule", zeros),
    ]
    cases[4]["instead"] = {"wrong_shape": "seed"}
    cases[-1]["inputs"]["square"][0] = cases[-1]["inputs"]["another"][:, 1] = 0.0
    return [one | {"public": False, "shown": ""} for one in cases]


def draw_networks(draw):
    behind = {"ask": "training", "steps_of_training": 3, "left_behind": True}
    rows = [
        ("the network", "tanh(x @ w1 + b1) @ w2 + b2", "network", {"ask": "network"}),
        ("its gradients", "The gradients arrive in the parameters", "network-leaves", {"ask": "network gradients"}),
        ("one step", "One step of gradient descent", "training", {"ask": "training", "steps_of_training": 1}),
        ("twelve steps", "Losses and parameters", "training", {"ask": "training", "steps_of_training": 12}),
        ("left behind", "The caller left gradients behind", "cleared-too-late", behind),
    ]
    return [network_case(draw, *row) for row in rows]


def diagnose(inputs, got, expected):
    """The misconception that gives exactly these numbers, if there is one."""
    if not got.get("arrays unchanged", True) or not got.get("leaves are copies", True):
        return "aliases"
    if inputs["ask"] == "gradients":
        return diagnose_means(inputs, got, expected)
    if inputs["ask"] != "training" or inputs["network"] != "two layers":
        return None
    losses = got["losses"]
    if len(losses) > 1 and np.all(losses == losses[0]):
        return "one-loss"
    if len(losses) > MOST_IMAGINED:
        return None
    for code, mistake in TRAINING_MISTAKES.items():
        wrong = descend(inputs, **mistake)
        if all(is_near(got[name], wrong[name]) for name in ("losses", *NAMES)):
            return code
    return None


def diagnose_means(inputs, got, expected):
    """Whether each gradient of a copied leaf is the right one divided by the number of copies."""
    copied = {f"grad of v{place}": COPIES.get(step[1], 1) for place, step in enumerate(inputs["steps"])}
    copied = {name: count for name, count in copied.items() if count != 1}
    if copied and all(is_near(got[name] * count, expected[name]) for name, count in copied.items()):
        return "mean-not-sum"
    return None


TRAINING_MISTAKES = {
    "uphill": {"sign": -1.0},
    "cleared-too-late": {"clears": "after"},
    "piles-up": {"clears": "never"},
    "loss-after": {"notes": "after"},
}


def descend(inputs, sign=1.0, clears="before", notes="before"):
    """Losses and parameters after training two layers with a misconception."""
    values = {name: inputs[name].copy() for name in NAMES}
    gradients = {name: np.zeros_like(value) for name, value in values.items()}
    if inputs["left_behind"]:
        gradients = differentiate(values, inputs)[1]
    losses = []
    for _ in range(inputs["steps_of_training"]):
        loss, fresh = differentiate(values, inputs)
        for name in NAMES:
            gradients[name] = fresh[name] + (0.0 if clears == "before" else gradients[name])
            values[name] = values[name] - sign * inputs["rate"] * gradients[name]
            gradients[name] = gradients[name] * (0.0 if clears == "after" else 1.0)
        losses.append(loss if notes == "before" else differentiate(values, inputs)[0])
    return {"losses": np.array(losses), **values}


def differentiate(values, inputs):
    """Loss and gradients of the two layers, by the formulas on paper."""
    x, y = inputs["x"], inputs["y"]
    w1, b1, w2, b2 = (values[name] for name in NAMES)
    hidden = np.tanh(x @ w1 + b1)
    error = hidden @ w2 + b2 - y
    out = 2 * error / y.size
    back = (out @ w2.T) * (1 - hidden**2)
    return (error**2).sum() / y.size, {"w1": x.T @ back, "b1": back.sum(0), "w2": hidden.T @ out, "b2": out.sum(0)}


def graph_case(draw, name, idea, finding, steps, ask="gradients", outputs=None):
    outputs = [len(steps) - 1] if outputs is None else outputs
    leaves = {step[1] for step in steps if step[0] == "leaf"}
    arrays = {leaf: draw_leaf(draw, leaf) for leaf in sorted(leaves)}
    walks = [f"v{place}.backward()" for place in outputs] if ask == "gradients" else []
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": True,
        "inputs": {"ask": ask, "steps": steps, "outputs": outputs, **arrays},
        "shown": "\n".join([write_program(steps, arrays), *walks]),
        "instead": {
            "wrong_shape": "unbroadcast" if ask == "gradients" else finding,
            "wrong_dtype": "integer-data",
            "not_finite": finding,
        },
    }


def network_case(draw, name, idea, finding, more):
    order = {"network": "two layers", "left_behind": False, "rate": 0.2, "steps": [], "steps_of_training": 0, **more}
    shapes = {"w1": (3, 4), "b1": (4,), "w2": (4, 2), "b2": (2,)}
    if order["network"] == "gated":
        shapes = {"w1": (3, 4), "w2": (4, 4), "gate": (4,), "scale": (4, 2), "idle": (2,)}
    parameters = {
        key: np.round(draw.choice([-1.0, 1.0], shape) * draw.uniform(0.2, 0.8, shape), 3)
        for key, shape in shapes.items()
    }
    data = {"x": np.round(draw.uniform(-1.5, 1.5, (6, 3)), 2), "y": np.round(draw.uniform(-1, 1, (6, 2)), 2)}
    doing = {"network": "two_layer(x, parameters)", "network gradients": "loss_of().backward()"}
    call = doing.get(order["ask"], f"train(loss_of, parameters, rate=0.2, steps={order['steps_of_training']})")
    lines = [f"{key} = {np.array2string(value, separator=', ')}" for key, value in {**data, **parameters}.items()]
    lines += ["loss_of().backward()  # its gradients stay in .grad"] if order["left_behind"] else []
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": True,
        "inputs": {**order, "names": list(shapes), **parameters, **data},
        "shown": "\n".join([*lines, call]),
        "instead": {
            "wrong_shape": "unbroadcast" if order["ask"] == "network gradients" else finding,
            "wrong_dtype": "integer-data",
        },
        "slow": "slow",
    }


def draw_weights(draw, shape):
    return np.round(draw.choice([-1.0, 1.0], shape) * draw.uniform(0.2, 0.8, shape), 3)


def draw_leaf(draw, name):
    if name.startswith(WHOLE):
        return np.asarray(draw.choice([-2, -1, 1, 2], LEAF[name]))
    return np.asarray(draw_array(draw, LEAF[name]))


def draw_array(draw, shape):
    """Away from 0 and 1, where rules coincide, and not so large that tanh goes flat.

    Each entry is drawn on its own: with few different entries, sums along another axis can agree by luck.
    """
    sizes = np.where(draw.random(shape) < 0.5, draw.uniform(0.3, 0.85, shape), draw.uniform(1.15, 1.4, shape))
    return np.round(draw.choice([-1.0, 1.0], shape) * sizes, 3)


def draw_graph(rng):
    """Three by three throughout, but for a row; every result but the last is used, many twice."""
    steps = [["leaf", "square"], ["leaf", "another"], ["leaf", "row of three"]]
    for _ in range(7):
        operation = rng.choice(["+", "-", "*", "@", "tanh"])
        places = [rng.randrange(max(0, len(steps) - 4), len(steps)) for _ in range(1 if operation == "tanh" else 2)]
        if operation == "@" and 2 in places:
            operation = "*"
        steps.append([operation, *places])
        if steps[-1] == ["tanh", 2] or set(places) == {2}:
            steps[-1] = ["+", 2, rng.choice([0, 1])]
    loose = [place for place in range(len(steps)) if all(place not in step[1:] for step in steps[3:])]
    while len(loose) > 1:
        steps.append(["+", loose.pop(0), loose.pop(0)])
        loose.append(len(steps) - 1)
    # Squashed once more, so that long products leave gradients of order one.
    steps.append(["tanh", loose[0]] if loose[0] != 2 else ["*", 2, 0])
    return [*steps, ["sum", len(steps) - 1]]


def write_program(steps, arrays):
    """The steps as the program that a learner would write."""
    lines = []
    for place, (operation, *operands) in enumerate(steps):
        if operation == "leaf":
            lines.append(f"v{place} = Array({np.array2string(arrays[operands[0]], separator=', ')})")
        elif operation in ("tanh", "sum"):
            lines.append(f"v{place} = v{operands[0]}.{operation}()")
        else:
            lines.append(f"v{place} = v{operands[0]} {operation} v{operands[1]}")
    return "\n".join(lines)


def is_near(got, wrong):
    return got.shape == wrong.shape and np.allclose(got, wrong, rtol=NEAR, atol=NEAR)
