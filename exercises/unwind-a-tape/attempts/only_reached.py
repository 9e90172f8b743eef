def unwind(tape, output):
    gradients = {output: 1.0}
    for name, operands in reversed(tape):
        if name not in gradients:
            continue
        for operand, slope in operands:
            if operand is not None:
                gradients[operand] = gradients.get(operand, 0.0) + gradients[name] * slope
    return gradients
