import numpy as np


def matmul_vjp(g, a, b):
    ga = g @ np.swapaxes(b, -1, -2)
    gb = np.swapaxes(a, -1, -2) @ g
    return bring_home(ga, a.shape), bring_home(gb, b.shape)


def bring_home(gradient, shape):
    left, axes = list(shape), []
    for axis, size in enumerate(gradient.shape):
        if size in left:
            left.remove(size)
        else:
            axes.append(axis)
    return gradient.sum(axis=tuple(axes)).reshape(shape)
