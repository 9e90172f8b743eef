"""Cases: graphs on which every order is right, then graphs on which few are, then what the call may not touch.

A step is ["leaf", number], [operation, places of operands]; every draw keeps away from 0 and 1.
"""

import math

RANDOM_GRAPHS = 4
LONG, DOUBLINGS = 2000, 48
APART = 1e-3


def draw_cases(rng):
    a, b, c = (["leaf", draw_leaf(rng)] for _ in range(3))
    two_calls = [a, b, ["*", 0, 1], ["tanh", 2], ["*", 3, 0], ["+", 4, 2], ["*", 2, 2], ["+", 6, 1]]
    public = [
        case("two operations", "Two operations, one after the other", "one-step", [a, b, ["*", 0, 1], ["tanh", 2]]),
        case("a value with itself", "Both uses are in one operation", "used-twice", [a, ["*", 0, 0], ["tanh", 1]]),
        case("the graph above", "The graph of the file", "falls-short", [a, b, *original()]),
        case("the longer path first", "The same graph, its last sum turned around", "falls-short", turned(a, b)),
        case("twice and once more", "Two uses in one operation, and a third one later", "falls-short", thrice(a)),
        case(
            "an old gradient", "Every `grad` is 0.25 before the call", "old-gradient", [a, b, ["*", 0, 1]], left=0.25
        ),
        case(
            "other results",
            "Results of the same values, on which the output does not depend",
            "other-results",
            [a, b, c, ["*", 0, 1], ["*", 3, 2], ["tanh", 3], ["*", 5, 0]],
            outputs=[5],
        ),
        case("two outputs", "Two calls, from two outputs of one graph", "not-its-own", two_calls, outputs=[5, 7]),
        case("48 doublings", "A number that is doubled 48 times", "once-per-path", doublings(a), told=False),
    ]
    chain = [a, b, *(["+", place, 0] for place in range(1, LONG + 1))]
    hidden = [
        case("a chain", f"{LONG} operations, one after the other", "larger", chain),
        case("a leaf", "`backward` of a leaf", "larger", [a, b, ["*", 0, 1]], outputs=[0]),
        case("equal numbers", "Two results with the same number", "larger", twins(a, b)),
        *(random_case(rng, place) for place in range(1, RANDOM_GRAPHS + 1)),
    ]
    return [*public, *(found | {"public": False, "shown": ""} for found in hidden)]


def original():
    return [["*", 0, 1], ["tanh", 2], ["*", 3, 0], ["+", 4, 2]]


def turned(a, b):
    return [a, b, ["*", 0, 1], ["tanh", 2], ["*", 0, 3], ["+", 2, 4]]


def thrice(leaf):
    """The product uses the first result twice, and is ready before the chain that uses it once."""
    return [leaf, ["tanh", 0], ["*", 1, 1], ["tanh", 1], ["tanh", 3], ["+", 2, 4]]


def twins(a, b):
    """a * b and b * a: two values with one number."""
    return [a, b, ["*", 0, 1], ["*", 1, 0], ["tanh", 2], ["+", 4, 3]]


def doublings(leaf):
    return [leaf, *(["+", place, place] for place in range(DOUBLINGS))]


def random_case(rng, place):
    idea = f"Random graph {place} of {RANDOM_GRAPHS}, with two outputs"
    while True:
        steps = draw_graph(rng)
        outputs = [len(steps) - 1, len(steps) - 2]
        if is_telling(steps, outputs[0]):
            break
    return case(f"random graph {place}", idea, "larger", steps, outputs=outputs, left=draw_leaf(rng), told=False)


def case(name, idea, finding, steps, outputs=None, left=0.0, told=True):
    outputs = outputs or [len(steps) - 1]
    graph = {"graph": write_graph(steps)} if told and len(outputs) == 1 and len(steps) < 64 else {}
    names = names_of(steps)
    grads = {f"{name}.grad after {names[output]}.backward()": [] for output in outputs for name in names}
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": True,
        "inputs": {"steps": steps, "outputs": outputs, "left": [left] * len(steps)},
        "shown": write_program(steps, outputs, left),
        "slow": "once-per-path",
        "labels": {"gradients": grads},
        **(graph if name not in ("a chain", "a leaf") else {}),
    }


def diagnose(inputs, got, expected):
    if not got["graph kept"]:
        return "graph-changed"
    if not any(got["gradients"]):
        return "no-seed"
    return None


def names_of(steps):
    leaves = iter("abc")
    return [next(leaves) if step[0] == "leaf" else f"h{place}" for place, step in enumerate(steps)]


def write_program(steps, outputs, left):
    if len(steps) > 20:
        return "h = a\nfor _ in range(48):\n    h = h + h\nh.backward()"
    names, lines = names_of(steps), []
    for name, (operation, *args) in zip(names, steps, strict=True):
        if operation == "leaf":
            lines.append(f"{name} = Value({args[0]})")
        elif operation == "tanh":
            lines.append(f"{name} = {names[args[0]]}.tanh()")
        else:
            lines.append(f"{name} = {names[args[0]]} {operation} {names[args[1]]}")
    if left:
        lines.append(f"for value in ({', '.join(names)}):\n    value.grad = {left}")
    return "\n".join([*lines, *(f"{names[place]}.backward()" for place in outputs)])


def write_graph(steps):
    nodes = []
    for place, (name, value, step) in enumerate(zip(names_of(steps), evaluate(steps), steps, strict=True)):
        made = {} if step[0] == "leaf" else {"op": step[0], "operands": step[1:]}
        nodes.append({"name": name, "value": f"{value:.4g}", "answer": f"gradients[{place}]", **made})
    return {"walk": "backward", "nodes": nodes}


def draw_leaf(rng):
    return round(rng.choice([-1, 1]) * rng.choice([rng.uniform(0.4, 0.85), rng.uniform(1.15, 1.4)]), 4)


def draw_graph(rng):
    steps = [["leaf", draw_leaf(rng)] for _ in range(3)]
    for _ in range(10):
        operation = rng.choice(["+", "*", "*", "tanh"])
        near = range(max(0, len(steps) - 5), len(steps))
        steps.append([operation, *rng.sample(near, 1 if operation == "tanh" else 2)])
    return steps


def evaluate(steps):
    values = []
    for operation, *args in steps:
        numbers = [values[of] for of in args] if operation != "leaf" else args
        compute = {"leaf": sum, "+": sum, "*": math.prod, "tanh": lambda found: math.tanh(found[0])}
        values.append(compute[operation](numbers))
    return values


def is_telling(steps, output):
    """Whether the gradients have a fair size, and an order by levels gives others."""
    right = send(steps, range(output, -1, -1), output)
    levels = [output]
    for place in levels:
        levels += [of for of in dict.fromkeys(operands_of(steps[place])) if of not in levels]
    wrong = send(steps, levels, output)
    fair = all(0.02 < abs(right[leaf]) < 50 for leaf in range(3))
    return fair and max(abs(right[leaf] - wrong[leaf]) for leaf in range(3)) > APART


def send(steps, order, output):
    values, gradients = evaluate(steps), [0.0] * len(steps)
    gradients[output] = 1.0
    for place in order:
        operation, operands = steps[place][0], operands_of(steps[place])
        for use, of in enumerate(operands):
            slope = {"+": 1.0, "*": values[operands[1 - use]] if len(operands) > 1 else 0.0}
            gradients[of] += gradients[place] * slope.get(operation, 1.0 - values[place] ** 2)
    return gradients


def operands_of(step):
    return [] if step[0] == "leaf" else step[1:]
