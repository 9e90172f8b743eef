import numpy as np


def add_vjp(g, a, b):
    return collect(g, a), collect(g, b)


def mul_vjp(g, a, b):
    return collect(np.multiply(g, b), a), collect(np.multiply(g, a), b)


def collect(g, operand):
    padded = (1,) * (g.ndim - operand.ndim) + operand.shape
    axes = tuple(axis for axis, (ours, whole) in enumerate(zip(padded, g.shape)) if ours != whole)
    return g.sum(axis=axes).reshape(operand.shape)
