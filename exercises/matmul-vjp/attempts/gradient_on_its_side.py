import numpy as np


def matmul_vjp(g, a, b):
    ga = g @ np.swapaxes(b, -1, -2)
    gb = np.swapaxes(g, -1, -2) @ a
    return bring_home(ga, a.shape), bring_home(gb, b.shape)


def bring_home(gradient, shape):
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    for axis, size in enumerate(shape[:-2]):
        if size == 1:
            gradient = gradient.sum(axis=axis, keepdims=True)
    return gradient
