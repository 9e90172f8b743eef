import numpy as np


def scatter(values, shape):
    out = np.zeros(int(np.prod(shape, dtype=int)))
    places = np.broadcast_to(np.arange(out.size).reshape(shape), values.shape)
    np.add.at(out, places.ravel(), values.ravel())
    return out.reshape(shape)


def add_vjp(g, a, b):
    return scatter(g, a.shape), scatter(g, b.shape)


def mul_vjp(g, a, b):
    product = np.empty_like(g)
    np.multiply(g, b, out=product)
    ga = scatter(product, a.shape)
    np.multiply(g, a, out=product)
    return ga, scatter(product, b.shape)
