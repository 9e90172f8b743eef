def add_vjp(g, a, b):
    return bring_home(g, a.shape), bring_home(g, b.shape)


def mul_vjp(g, a, b):
    return bring_home(g * b, a.shape), bring_home(g * a, b.shape)


def bring_home(g, shape):
    left, axes = list(shape), []
    for axis, size in enumerate(g.shape):
        if size in left:
            left.remove(size)
        else:
            axes.append(axis)
    return g.sum(axis=tuple(axes)).reshape(shape)
