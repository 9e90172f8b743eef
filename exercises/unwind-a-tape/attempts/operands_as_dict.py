def unwind(tape, output):
    gradients = {}
    for name, operands in tape:
        gradients[name] = 0.0
        for operand, _ in operands:
            if operand is not None:
                gradients.setdefault(operand, 0.0)
    gradients[output] = 1.0
    for name, operands in reversed(tape):
        for operand, slope in dict(operands).items():
            if operand is not None:
                gradients[operand] += gradients[name] * slope
    return gradients
