import numpy as np


class Array:
    """A numpy array that remembers how it was made."""

    def __init__(self, data, _prev=(), _op=""):
        self.data = np.array(data, dtype=float)
        self.grad = np.zeros_like(self.data)
        self._prev = _prev
        self._op = _op

    def __add__(self, other):
        return Array(self.data + other.data, (self, other), "+")

    # - * @ tanh() sum()

    def backward(self):
        raise NotImplementedError


def two_layer(x, parameters):
    w1, b1, w2, b2 = parameters
    raise NotImplementedError


def train(loss_of, parameters, rate, steps):
    raise NotImplementedError
