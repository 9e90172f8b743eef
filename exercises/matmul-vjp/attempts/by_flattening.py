import numpy as np


def matmul_vjp(g, a, b):
    batch = g.shape[:-2]
    ga, gb = np.zeros_like(a), np.zeros_like(b)
    for place in np.ndindex(batch):
        left, right = find(a, place), find(b, place)
        ga[left] += g[place] @ b[right].T
        gb[right] += a[left].T @ g[place]
    return ga, gb


def find(operand, place):
    """Which matrix of the operand the matrix `place` of the result was made from."""
    sizes = operand.shape[:-2]
    places = place[len(place) - len(sizes) :]
    return tuple(0 if size == 1 else at for size, at in zip(sizes, places))
