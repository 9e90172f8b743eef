import numpy as np


def gone(g):
    raise RuntimeError("this node has been walked already, and what it had saved is freed")


class Walked:
    def backward(self, g, retain=False):
        rule = self.rule
        if not retain:
            self.rule = gone
        return rule(g)


class Exp(Walked):
    def forward(self, x):
        y = np.exp(x)
        self.rule = lambda g: g * y
        return y


class Mul(Walked):
    def forward(self, a, b):
        self.rule = lambda g: (g * b, g * a)
        return a * b


class Add:
    def forward(self, a, b):
        return np.add(a, b)

    def backward(self, g, retain=False):
        return g.copy(), g.copy()
