import numpy as np


def matmul_vjp(g, a, b):
    gb = np.swapaxes(a, -1, -2) @ g
    ga = g @ np.swapaxes(b, -1, -2)
    if ga.shape == g.shape:
        g[...] = ga
        ga = g
    return bring_home(ga, a.shape), bring_home(gb, b.shape)


def bring_home(gradient, shape):
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    for axis, size in enumerate(shape[:-2]):
        if size == 1:
            gradient = gradient.sum(axis=axis, keepdims=True)
    return gradient
