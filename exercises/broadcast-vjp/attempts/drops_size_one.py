def add_vjp(g, a, b):
    return unbroadcast(g, a.shape), unbroadcast(g, b.shape)


def mul_vjp(g, a, b):
    return unbroadcast(g * b, a.shape), unbroadcast(g * a, b.shape)


def unbroadcast(g, shape):
    missing = g.ndim - len(shape)
    axes = tuple(range(missing)) + tuple(missing + i for i, n in enumerate(shape) if n == 1 and g.shape[missing + i] > 1)
    return g.sum(axis=axes)
