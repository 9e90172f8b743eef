def unwind(tape, output):
    gradients = {}
    for name, operands in tape:
        gradients[name] = None
        for operand, _ in operands:
            if operand is not None:
                gradients.setdefault(operand, None)
    gradients[output] = 1.0
    for name, operands in reversed(tape):
        for operand, slope in operands:
            if operand is not None:
                gradients[operand] += gradients[name] * slope
    return gradients
