def add_vjp(g, a, b):
    return reduce_to(g, a.shape), reduce_to(g, b.shape)


def mul_vjp(g, a, b):
    ga = reduce_to(g, a.shape) * b
    gb = reduce_to(g, b.shape) * a
    return reduce_to(ga, a.shape), reduce_to(gb, b.shape)


def reduce_to(g, shape):
    while g.ndim > len(shape):
        g = g.sum(0)
    for axis, size in enumerate(shape):
        if size == 1:
            g = g.sum(axis, keepdims=True)
    return g
