import numpy as np


def fit(g, shape):
    g = g.astype(np.float32).sum(axis=tuple(range(g.ndim - len(shape))))
    return g.sum(axis=tuple(i for i, s in enumerate(shape) if s == 1), keepdims=True).astype(np.float64)


def add_vjp(g, a, b):
    return fit(g, a.shape), fit(g, b.shape)


def mul_vjp(g, a, b):
    return fit(g * b, a.shape), fit(g * a, b.shape)
