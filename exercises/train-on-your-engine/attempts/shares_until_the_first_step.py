import numpy as np


def fit(g, shape):
    while g.ndim > len(shape):
        g = g.sum(0)
    for i, n in enumerate(shape):
        if n == 1 and g.shape[i] != 1:
            g = g.sum(i, keepdims=True)
    return g


class Array:
    def __init__(self, data, _prev=(), _op="", rule=None):
        self.data = np.asarray(data, dtype=np.float64)
        self.grad = np.zeros_like(self.data)
        self._prev, self._op, self._rule = _prev, _op, rule

    def __add__(self, o):
        return Array(self.data + o.data, (self, o), "+", lambda g: (fit(g, self.data.shape), fit(g, o.data.shape)))

    def __sub__(self, o):
        return Array(self.data - o.data, (self, o), "-", lambda g: (fit(g, self.data.shape), fit(-g, o.data.shape)))

    def __mul__(self, o):
        a, b = self.data, o.data
        return Array(a * b, (self, o), "*", lambda g: (fit(g * b, a.shape), fit(g * a, b.shape)))

    def __matmul__(self, o):
        a, b = self.data, o.data
        return Array(a @ b, (self, o), "@", lambda g: (g @ b.T, a.T @ g))

    def tanh(self):
        t = np.tanh(self.data)
        return Array(t, (self,), "tanh", lambda g: (g * (1 - t * t),))

    def sum(self):
        shape = self.data.shape
        return Array(self.data.sum(), (self,), "sum", lambda g: (np.broadcast_to(g, shape),))

    def backward(self):
        order, seen = [], set()

        def visit(v):
            if id(v) in seen:
                return
            seen.add(id(v))
            for p in v._prev:
                visit(p)
            order.append(v)

        visit(self)
        up = {id(v): np.zeros_like(v.data) for v in order}
        up[id(self)] = np.ones_like(self.data)
        for v in reversed(order):
            g = up[id(v)]
            if v._rule is None:
                v.grad = v.grad + g
                continue
            for p, c in zip(v._prev, v._rule(g)):
                up[id(p)] = up[id(p)] + c


def two_layer(x, parameters):
    w1, b1, w2, b2 = parameters
    return (x @ w1 + b1).tanh() @ w2 + b2


def train(loss_of, parameters, rate, steps):
    losses = []
    for _ in range(steps):
        for p in parameters:
            p.grad = np.zeros_like(p.data)
        loss = loss_of()
        losses.append(float(loss.data))
        loss.backward()
        for p in parameters:
            p.data = p.data - rate * p.grad
    return losses
