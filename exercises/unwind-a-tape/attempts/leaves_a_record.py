def unwind(tape, output):
    gradients = {}
    for name, operands in tape:
        gradients.setdefault(name, 0.0)
        for operand, _ in operands:
            if operand is not None:
                gradients.setdefault(operand, 0.0)
    gradients.pop("end", None)
    if tape[-1][0] != "end":
        tape.append(("end", ()))
    gradients[output] = 1.0
    for name, operands in reversed(tape[:-1]):
        for operand, slope in operands:
            if operand is not None:
                gradients[operand] += gradients[name] * slope
    return gradients
