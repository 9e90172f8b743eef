import numpy as np


def add_vjp(g, a, b):
    return bring_home(g, a.shape), bring_home(g, b.shape)


def mul_vjp(g, a, b):
    return bring_home(g * b, a.shape), bring_home(g * a, b.shape)


def bring_home(g, shape):
    letters = "abcd"[: g.ndim]
    own = letters[g.ndim - len(shape) :]
    kept = "".join(letter for letter, size in zip(own, shape) if size > 1)
    return np.einsum(f"{letters}->{kept}", g).reshape(shape)
