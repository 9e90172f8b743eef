def unwind(tape, output):
    gradients = {}
    for name, operands in tape:
        gradients[name] = 0.0
        for operand, _ in operands:
            if operand is not None:
                gradients.setdefault(operand, 0.0)
    records = dict(tape)

    def receive(name, contribution):
        gradients[name] += contribution
        for operand, slope in records.get(name, ()):
            if operand is not None:
                receive(operand, contribution * slope)

    receive(output, 1.0)
    return gradients
