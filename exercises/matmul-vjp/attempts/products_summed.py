import numpy as np


def matmul_vjp(g, a, b):
    ga = (g[..., :, None, :] * b[..., None, :, :]).sum(axis=-1)
    gb = (a[..., :, :, None] * g[..., :, None, :]).sum(axis=-3)
    return unbroadcast(ga, a.shape), unbroadcast(gb, b.shape)


def unbroadcast(x, shape):
    x = x.sum(axis=tuple(range(x.ndim - len(shape))))
    short = [i for i in range(len(shape) - 2) if shape[i] == 1 and x.shape[i] > 1]
    return np.add.reduce(x, axis=tuple(short), keepdims=True) if short else x
