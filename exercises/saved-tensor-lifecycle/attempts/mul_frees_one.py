import numpy as np


class Node:
    _saved = None

    def save(self, *arrays):
        self._saved = arrays

    def recall(self, retain):
        if self._saved is None:
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


class Mul:
    a = b = None

    def forward(self, a, b):
        self.a, self.b = a, b
        return a * b

    def backward(self, g, retain=False):
        if self.a is None:
            raise RuntimeError("the graph has been freed")
        gradients = g * self.b, g * self.a
        if not retain:
            self.a = None
        return gradients


class Add:
    def forward(self, a, b):
        return a + b

    def backward(self, g, retain=False):
        return g, g
