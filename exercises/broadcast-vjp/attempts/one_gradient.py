def add_vjp(g, a, b):
    return bring_home(g, a.shape)


def mul_vjp(g, a, b):
    return bring_home(g * b, a.shape), bring_home(g * a, b.shape)


def bring_home(g, shape):
    """Adds up the copies that broadcasting made: over axes that the operand lacks, and over those where it had 1."""
    while g.ndim > len(shape):
        g = g.sum(axis=0)
    for axis, size in enumerate(shape):
        if size == 1:
            g = g.sum(axis=axis, keepdims=True)
    return g
