import heapq
import itertools

import numpy as np

made = itertools.count()
RULES = {
    "+": lambda g, out, a, b: (g, g),
    "-": lambda g, out, a, b: (g, -g),
    "*": lambda g, out, a, b: (g * b, g * a),
    "@": lambda g, out, a, b: (np.matmul(g, b.transpose()), np.matmul(a.transpose(), g)),
    "tanh": lambda g, out, a: (g * (1 - out) * (1 + out),),
    "sum": lambda g, out, a: (g * np.ones_like(a),),
}


class Array:
    def __init__(self, data):
        self.data = np.array(data, dtype="float64")
        self.grad = np.zeros(self.data.shape)
        self._prev, self._op, self.number = [], "", next(made)

    def make(self, op, data, *operands):
        out = Array(data)
        out._op, out._prev = op, list(operands)
        return out

    def __add__(self, other):
        return self.make("+", self.data + other.data, self, other)

    def __sub__(self, other):
        return self.make("-", self.data - other.data, self, other)

    def __mul__(self, other):
        return self.make("*", self.data * other.data, self, other)

    def __matmul__(self, other):
        return self.make("@", self.data @ other.data, self, other)

    def tanh(self):
        return self.make("tanh", np.tanh(self.data), self)

    def sum(self):
        return self.make("sum", self.data.sum(), self)

    def backward(self):
        arrived = {self.number: np.ones_like(self.data)}
        waiting = [(-self.number, self)]
        while waiting:
            _, value = heapq.heappop(waiting)
            gradient = arrived.pop(value.number)
            if not value._op:
                value.grad = value.grad + gradient
                continue
            shares = RULES[value._op](gradient, value.data, *(operand.data for operand in value._prev))
            for operand, share in zip(value._prev, shares):
                if operand.number not in arrived:
                    heapq.heappush(waiting, (-operand.number, operand))
                    arrived[operand.number] = np.zeros(operand.data.shape)
                arrived[operand.number] = arrived[operand.number] + fold(share, operand.data)


def fold(share, like):
    """The sums that undo broadcasting, by one trailing axis after another."""
    while share.ndim > like.ndim:
        share = np.add.reduce(share)
    for axis in range(like.ndim):
        if share.shape[axis] != like.shape[axis]:
            share = share.sum(axis, keepdims=True)
    return share


def two_layer(x, parameters):
    w1, b1, w2, b2 = parameters
    return (x @ w1 + b1).tanh() @ w2 + b2


def train(loss_of, parameters, rate, steps):
    losses = np.empty(steps)
    for step in range(steps):
        for parameter in parameters:
            parameter.grad[...] = 0.0
        loss = loss_of()
        losses[step] = loss.data.item()
        loss.backward()
        for parameter in parameters:
            parameter.data -= rate * parameter.grad
    return losses.tolist()
