import numpy as np


SAVED = {}


class Node:

    def save(self, *arrays):
        SAVED[id(self)] = arrays

    def recall(self, retain):
        if id(self) not in SAVED:
            raise RuntimeError("the graph has been freed")
        return SAVED[id(self)] if retain else SAVED.pop(id(self))


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
