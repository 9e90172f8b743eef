import numpy as np


class Array:
    def __init__(self, data, compute=None, leaves=()):
        self.data = np.array(data, dtype=float)
        self.grad = np.zeros_like(self.data)
        self.compute = compute or (lambda: self.data)
        self.leaves = set(leaves) or {self}

    def join(self, other, function):
        return Array(
            function(self.data, other.data),
            lambda: function(self.compute(), other.compute()),
            self.leaves | other.leaves,
        )

    def __add__(self, other):
        return self.join(other, np.add)

    def __sub__(self, other):
        return self.join(other, np.subtract)

    def __mul__(self, other):
        return self.join(other, np.multiply)

    def __matmul__(self, other):
        return self.join(other, np.matmul)

    def tanh(self):
        return Array(np.tanh(self.data), lambda: np.tanh(self.compute()), self.leaves)

    def sum(self):
        return Array(self.data.sum(), lambda: self.compute().sum(), self.leaves)

    def backward(self):
        for leaf in self.leaves:
            for place in np.ndindex(leaf.data.shape):
                kept = leaf.data[place]
                found = 0.0
                for weight, step in ((8, 1), (-8, -1), (-1, 2), (1, -2)):
                    leaf.data[place] = kept + step * 1e-3
                    found += weight * float(self.compute())
                leaf.data[place] = kept
                leaf.grad[place] += found / (12 * 1e-3)


def two_layer(x, parameters):
    w1, b1, w2, b2 = parameters
    return (x @ w1 + b1).tanh() @ w2 + b2


def train(loss_of, parameters, rate, steps):
    losses = []
    for _ in range(steps):
        loss = loss_of()
        losses.append(float(loss.data))
        for p in parameters:
            p.grad[...] = 0.0
        loss.backward()
        for p in parameters:
            p.data = p.data - rate * p.grad
    return losses
