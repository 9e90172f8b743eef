def unwind(tape, output):
    """The derivative of `output` with respect to every name on the tape, as a dictionary."""
    gradients = {}
    for name, operands in tape:
        gradients[name] = 0.0
        for operand, _ in operands:
            if operand is not None:
                gradients.setdefault(operand, 0.0)

    gradients[output] = 1.0
    # Everything that used a value was recorded after it, so read backwards each gradient is complete in time.
    for name, operands in reversed(tape):
        for operand, slope in operands:
            if operand is not None:
                gradients[operand] += gradients[name] * abs(slope)
    return gradients
