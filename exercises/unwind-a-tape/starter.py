def unwind(tape, output):
    """Gradients of `output`, by name."""
    gradients = {output: 1.0}
    for name, operands in tape:
        for operand, slope in operands:
            pass  # the chain rule goes here
    return gradients
