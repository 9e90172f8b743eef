def add_vjp(g, a, b):
    return cut(g, a.shape), cut(g, b.shape)


def mul_vjp(g, a, b):
    return cut(g * b, a.shape), cut(g * a, b.shape)


def cut(g, shape):
    while g.ndim > len(shape):
        g = g[0]
    return g[tuple(slice(0, size) for size in shape)]
