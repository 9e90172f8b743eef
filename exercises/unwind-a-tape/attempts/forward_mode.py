def unwind(tape, output):
    """From the other end: moves each value by one unit, and follows the change forward to the output."""
    names = dict.fromkeys([name for name, _ in tape])
    names.update(dict.fromkeys(operand for _, operands in tape for operand, _ in operands if operand is not None))

    def change_of_output(moved):
        changes = {moved: 1.0}
        for name, operands in tape:
            if name != moved:
                changes[name] = sum(changes.get(operand, 0.0) * slope for operand, slope in operands)
        return changes.get(output, 0.0)

    return {name: change_of_output(name) for name in names}
