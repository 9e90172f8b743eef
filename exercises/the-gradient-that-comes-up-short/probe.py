"""Builds a case's graph with the learner's `Value`, runs `backward` from each output, and reads every `grad`."""


def probe(submission, case):
    values = build(submission.Value, case["steps"])
    for value, left in zip(values, case["left"], strict=True):
        value.grad = left
    before = describe(values)
    gradients = []
    for place in case["outputs"]:
        values[place].backward()
        gradients += [number(value.grad) for value in values]
    return {"gradients": gradients, "graph kept": describe(values) == before}


def build(make, steps):
    values = []
    for operation, *args in steps:
        if operation == "leaf":
            values.append(make(args[0]))
        elif operation == "+":
            values.append(values[args[0]] + values[args[1]])
        elif operation == "*":
            values.append(values[args[0]] * values[args[1]])
        else:
            values.append(values[args[0]].tanh())
    return values


def describe(values):
    """What each value is and how it was made; `backward` may not change that."""
    for value in values:
        for name in ("data", "grad", "operands", "slopes"):
            if not hasattr(value, name):
                raise TypeError(f"every value should have the attribute {name}, as in the original file")
    return [(value.data, [id(of) for of in value.operands], list(value.slopes)) for value in values]


def number(gradient):
    if not isinstance(gradient, (int, float)):
        raise TypeError(f"after backward, grad should be a number; it is of type {type(gradient).__name__}")
    return float(gradient)
