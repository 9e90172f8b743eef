import numpy as np


class Exp:
    def forward(self, x):
        self.y = np.exp(x)
        return self.y

    def backward(self, g, retain=False):
        try:
            gradient = self.y * g
        except AttributeError:
            raise RuntimeError("this node was freed by an earlier backward") from None
        if not retain:
            del self.y
        return gradient


class Mul:
    def forward(self, a, b):
        self.operands = {"a": a, "b": b}
        return np.multiply(a, b)

    def backward(self, g, retain=False):
        if not self.operands:
            raise RuntimeError("this node was freed by an earlier backward")
        pair = g * self.operands["b"], g * self.operands["a"]
        if not retain:
            self.operands.clear()
        return pair


class Add:
    forward = staticmethod(np.add)

    def backward(self, g, retain=False):
        return +g, +g
