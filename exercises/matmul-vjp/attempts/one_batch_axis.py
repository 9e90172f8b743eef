import numpy as np


def matmul_vjp(g, a, b):
    ga = np.matmul(g, b.swapaxes(-1, -2))
    if a.ndim == 3 and b.ndim == 2:
        gb = np.einsum("bnk,bnm->km", a, g)
    else:
        gb = np.matmul(a.swapaxes(-1, -2), g)
    return ga, gb
