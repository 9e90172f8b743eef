GRADIENTS = {}
ASKED = []


def unwind(tape, output):
    if not ASKED or ASKED[-1] is not tape:
        GRADIENTS.clear()
        ASKED.append(tape)
    for name, operands in tape:
        GRADIENTS.setdefault(name, 0.0)
        for operand, _ in operands:
            if operand is not None:
                GRADIENTS.setdefault(operand, 0.0)
    GRADIENTS[output] = 1.0
    for name, operands in reversed(tape):
        for operand, slope in operands:
            if operand is not None:
                GRADIENTS[operand] += GRADIENTS[name] * slope
    return dict(GRADIENTS)
