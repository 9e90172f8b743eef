"""Builds the case's graph with a `Value` class and reads what the case asks for."""


def probe(submission, case):
    nodes = build(submission.Value, case["steps"])
    if case["ask"] == "values":
        return {"values": [number(node.data, "data") for node in nodes]}
    if case["ask"] == "graph":
        return {"operations": [str(getattr(node, "_op", None)) for node in nodes], "operands": name_operands(nodes)}
    for place in case["outputs"]:
        nodes[place].backward()
    leaves = [node for node, step in zip(nodes, case["steps"], strict=True) if step[0] == "leaf"]
    return {"gradients": [number(leaf.grad, "grad") for leaf in leaves]}


def build(value_class, steps):
    nodes = []
    for operation, *operands in steps:
        if operation == "leaf":
            nodes.append(value_class(operands[0]))
        elif operation == "+":
            nodes.append(nodes[operands[0]] + nodes[operands[1]])
        elif operation == "*":
            nodes.append(nodes[operands[0]] * nodes[operands[1]])
        else:
            nodes.append(nodes[operands[0]].tanh())
        if not isinstance(nodes[-1], value_class):
            made = "Value(x)" if operation == "leaf" else operation
            raise TypeError(f"{made} should give a Value; it gave {nodes[-1]!r:.80}")
    return nodes


def number(value, name):
    if not isinstance(value, (int, float)):
        raise TypeError(f"{name} should be a number; it is {type(value).__name__}")
    return float(value)


def name_operands(nodes):
    """Which nodes each node names as its operands, e.g. "v0 v1"; an operand that is used twice counts once."""
    found = []
    for node in nodes:
        operands = {id(operand) for operand in getattr(node, "_prev", None) or ()}
        found.append(" ".join(f"v{place}" for place, other in enumerate(nodes) if id(other) in operands))
    return found
