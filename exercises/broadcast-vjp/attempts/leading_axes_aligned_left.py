def add_vjp(g, a, b):
    return sum_back(g, a.shape), sum_back(g, b.shape)


def mul_vjp(g, a, b):
    return sum_back(g * b, a.shape), sum_back(g * a, b.shape)


def sum_back(g, shape):
    for axis, size in enumerate(shape):
        if size != g.shape[axis]:
            g = g.sum(axis=axis, keepdims=True)
    while g.ndim > len(shape):
        g = g.sum(axis=-1)
    return g
