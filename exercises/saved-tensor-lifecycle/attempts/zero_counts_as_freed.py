import numpy as np


class Node:
    """Keeps what its backward needs, for as long as a walk may still need it."""

    _saved = None

    def save(self, *arrays):
        self._saved = arrays

    def recall(self, retain):
        if self._saved is None or not any(array.any() for array in self._saved):
            raise RuntimeError("backward a second time: what was saved is freed; retain it in the first call")
        saved = self._saved
        if not retain:
            self._saved = None
        return saved


class Exp(Node):
    def forward(self, x):
        y = np.exp(x)
        self.save(y)
        return y

    def backward(self, g, retain=False):
        (y,) = self.recall(retain)
        return g * y


class Mul(Node):
    def forward(self, a, b):
        self.save(a, b)
        return a * b

    def backward(self, g, retain=False):
        a, b = self.recall(retain)
        return g * b, g * a


class Add(Node):
    def forward(self, a, b):
        return a + b

    def backward(self, g, retain=False):
        return g, g
