import math


class Value:
    """A number that remembers how it was made."""

    def __init__(self, data, _prev=(), _op=""):
        self.data = data
        self.grad = 0.0
        self._prev = _prev  # the Values this one was computed from
        self._op = _op  # "+", "*", "tanh", or "" for a leaf

    def __add__(self, other):
        return Value(self.data + other.data, (self, other), "+")

    def __mul__(self, other):
        raise NotImplementedError("the product of two Values")

    def tanh(self):
        raise NotImplementedError("math.tanh gives you the number")

    def backward(self):
        raise NotImplementedError("add to the .grad of every leaf below self")
