import numpy as np


def matmul_vjp(g, a, b):
    ga, gb = np.zeros(a.shape), np.zeros(b.shape)
    batch = g.shape[:-2]
    a_all, b_all = (np.broadcast_to(x, batch + x.shape[-2:]) for x in (a, b))
    ga_all = np.lib.stride_tricks.as_strided(ga, batch + a.shape[-2:], strides_over(ga, len(batch)))
    gb_all = np.lib.stride_tricks.as_strided(gb, batch + b.shape[-2:], strides_over(gb, len(batch)))
    for place in np.ndindex(*batch):
        ga_all[place] += np.dot(g[place], b_all[place].T)
        gb_all[place] += np.dot(g[place].T, a_all[place]).T
    return ga, gb


def strides_over(x, axes):
    """A stride of 0 along each batch axis that this array does not have, or has once."""
    own = [0 if size == 1 else stride for size, stride in zip(x.shape[:-2], x.strides[:-2])]
    return (0,) * (axes - len(own)) + tuple(own) + x.strides[-2:]
