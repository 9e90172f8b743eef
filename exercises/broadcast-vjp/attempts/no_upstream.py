import numpy as np


def add_vjp(g, a, b):
    return bring_home(np.ones_like(g), a.shape), bring_home(np.ones_like(g), b.shape)


def mul_vjp(g, a, b):
    return bring_home(np.ones_like(g) * b, a.shape), bring_home(np.ones_like(g) * a, b.shape)


def bring_home(g, shape):
    while g.ndim > len(shape):
        g = g.sum(axis=0)
    for axis, size in enumerate(shape):
        if size == 1:
            g = g.sum(axis=axis, keepdims=True)
    return g
