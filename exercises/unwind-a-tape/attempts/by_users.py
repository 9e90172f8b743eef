from functools import cache


def unwind(tape, output):
    """Asks each value for its own gradient: the sum over all of its uses."""
    uses = {name: [] for name, _ in tape}
    for name, operands in tape:
        for operand, slope in operands:
            if operand is not None:
                uses.setdefault(operand, []).append((name, slope))

    @cache
    def gradient_of(value):
        own = 1.0 if value == output else 0.0
        return own + sum(gradient_of(user) * slope for user, slope in uses[value])

    return {value: gradient_of(value) for value in uses}
