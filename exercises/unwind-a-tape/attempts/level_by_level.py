def unwind(tape, output):
    gradients = {}
    for name, operands in tape:
        gradients[name] = 0.0
        for operand, _ in operands:
            if operand is not None:
                gradients.setdefault(operand, 0.0)
    gradients[output] = 1.0
    records = dict(tape)
    queue = [output]
    for name in queue:
        for operand, slope in records.get(name, ()):
            if operand is not None:
                gradients[operand] += gradients[name] * slope
                if operand not in queue:
                    queue.append(operand)
    return gradients
