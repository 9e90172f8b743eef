import numpy as np


def matmul_vjp(g, a, b):
    ga = g @ np.swapaxes(b, -1, -2)
    gb = np.swapaxes(a, -1, -2) @ g
    return bring_home(ga, a.shape), bring_home(gb, b.shape)


def bring_home(gradient, shape):
    while gradient.ndim > len(shape):
        gradient = gradient[0]
    for axis, size in enumerate(shape[:-2]):
        if size == 1:
            gradient = gradient.take([0], axis=axis)
    return gradient
