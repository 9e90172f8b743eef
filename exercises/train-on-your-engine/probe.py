"""Builds graphs and networks with the learner's Array, and reads values, gradients and what training leaves.

A graph is a list of steps: ["leaf", name of an input], [operation, place, place] or ["tanh" or "sum", place].
"""

import numpy as np


def probe(submission, case):
    arrays = {name: value for name, value in case.items() if isinstance(value, np.ndarray)}
    before = {name: value.copy() for name, value in arrays.items()}
    answer = ASKED[case["ask"]](submission, case)
    if case["ask"] in ("values", "graph"):
        return answer
    unchanged = all(np.array_equal(value, before[name]) for name, value in arrays.items())
    return answer | {"arrays unchanged": unchanged}


def read_values(submission, case):
    """The values, and whether leaves keep theirs when the arrays that they were made of change."""
    given = {name: value.copy() for name, value in case.items() if isinstance(value, np.ndarray)}
    nodes = build(submission.Array, case | given)
    values = {f"v{place}": as_array(node.data, "data") for place, node in enumerate(nodes)}
    for array in given.values():
        array += 1
    later = [as_array(node.data, "data") for node in nodes]
    return values | {"leaves are copies": all(map(np.array_equal, values.values(), later))}


def read_gradients(submission, case):
    nodes = build(submission.Array, case)
    for place in case["outputs"]:
        nodes[place].backward()
    leaves = [(place, node) for place, node in enumerate(nodes) if case["steps"][place][0] == "leaf"]
    return {f"grad of v{place}": as_array(leaf.grad, "grad") for place, leaf in leaves}


def read_graph(submission, case):
    nodes = build(submission.Array, case)
    operands = []
    for node in nodes:
        known = {id(operand) for operand in getattr(node, "_prev", None) or ()}
        operands.append(" ".join(f"v{place}" for place, other in enumerate(nodes) if id(other) in known))
    return {"operations": [str(getattr(node, "_op", None)) for node in nodes], "operands": operands}


def run_network(submission, case):
    parameters = make_parameters(submission.Array, case)
    result = submission.two_layer(submission.Array(case["x"]), parameters)
    return {"output": as_array(result.data, "data")}


def walk_network(submission, case):
    parameters = make_parameters(submission.Array, case)
    lossy(submission, case, parameters)().backward()
    return {f"grad of {name}": as_array(p.grad, "grad") for name, p in zip(case["names"], parameters, strict=True)}


def run_training(submission, case):
    parameters = make_parameters(submission.Array, case)
    loss_of = lossy(submission, case, parameters)
    if case["left_behind"]:
        loss_of().backward()
    losses = submission.train(loss_of, parameters, case["rate"], case["steps_of_training"])
    if not isinstance(losses, list) or len(losses) != case["steps_of_training"]:
        raise TypeError("train should return a list with one loss per step")
    if strange := [type(loss).__name__ for loss in losses if not isinstance(loss, float)]:
        raise TypeError(f"train should return floats; one of the losses is of type {strange[0]}")
    trained = {name: as_array(p.data, "data") for name, p in zip(case["names"], parameters, strict=True)}
    return {"losses": np.array(losses), **trained}


ASKED = {
    "values": read_values,
    "gradients": read_gradients,
    "graph": read_graph,
    "network": run_network,
    "network gradients": walk_network,
    "training": run_training,
}


def build(kind, case):
    nodes = []
    for operation, *operands in case["steps"]:
        if operation == "leaf":
            nodes.append(kind(as_given(case[operands[0]])))
            continue
        given = [nodes[place] for place in operands]
        nodes.append(apply(operation, given))
    return nodes


def as_given(array):
    """Integers come as a learner would write them: nested lists, or a Python int."""
    return array.tolist() if array.dtype.kind == "i" else array


def apply(operation, given):
    if operation == "tanh":
        return given[0].tanh()
    if operation == "sum":
        return given[0].sum()
    a, b = given
    return {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "@": lambda: a @ b}[operation]()


def make_parameters(kind, case):
    return [kind(case[name]) for name in case["names"]]


def lossy(submission, case, parameters):
    """The squared error of the case's network, with the arithmetic of the learner's own Array."""
    x, y = submission.Array(case["x"]), submission.Array(case["y"])
    share = submission.Array(1.0 / case["y"].size)

    def loss_of():
        if case["network"] == "two layers":
            error = submission.two_layer(x, parameters) - y
        else:
            error = gated(x, parameters) - y
        return (error * error).sum() * share

    return loss_of


def gated(x, parameters):
    """A network that the task does not name: three layers, a gate, one matrix used twice, one parameter idle."""
    w1, w2, gate, scale, _ = parameters
    hidden = (x @ w1).tanh()
    hidden = hidden + (hidden @ w2).tanh() * gate
    return (hidden @ w2).tanh() @ scale


def as_array(value, name):
    if not isinstance(value, (np.ndarray, np.generic, float, int)):
        raise TypeError(f"{name} should be a numpy array; it is of type {type(value).__name__}")
    return np.array(value)
