from collections import defaultdict


def unwind(tape, output):
    """Takes records off the end of a copy, and drops each finished gradient into the answer."""
    rest, arrived, found = list(tape), defaultdict(float), {}
    arrived[output] = 1.0
    while rest:
        name, operands = rest.pop()
        found[name] = arrived.pop(name, 0.0)
        for operand, slope in operands:
            arrived[operand] += found[name] * slope
    arrived.pop(None, None)
    return found | arrived
