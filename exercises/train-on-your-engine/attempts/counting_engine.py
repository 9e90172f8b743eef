import numpy as np


class Array:
    def __init__(self, data, _prev=(), _op="", rule=None):
        self.data = np.array(data, dtype=np.float64)
        self.grad = np.zeros(self.data.shape)
        self._prev, self._op, self.rule = _prev, _op, rule

    def __add__(self, other):
        return Array(self.data + other.data, (self, other), "+", lambda g: (g, g))

    def __sub__(self, other):
        return Array(self.data - other.data, (self, other), "-", lambda g: (g, -g))

    def __mul__(self, other):
        a, b = self.data, other.data
        return Array(a * b, (self, other), "*", lambda g: (g * b, g * a))

    def __matmul__(self, other):
        a, b = self.data, other.data
        return Array(a @ b, (self, other), "@", lambda g: (g @ b.T, a.T @ g))

    def tanh(self):
        t = np.tanh(self.data)
        return Array(t, (self,), "tanh", lambda g: (g * (1 - t * t),))

    def sum(self):
        shape = self.data.shape
        return Array(np.sum(self.data), (self,), "sum", lambda g: (np.full(shape, g),))

    def backward(self):
        waiting, stack, seen = {}, [self], {id(self)}
        while stack:
            for operand in stack.pop()._prev:
                waiting[id(operand)] = waiting.get(id(operand), 0) + 1
                if id(operand) not in seen:
                    seen.add(id(operand))
                    stack.append(operand)
        arrived, ready = {id(self): np.ones(self.data.shape)}, [self]
        while ready:
            node = ready.pop()
            gradient = arrived.pop(id(node))
            if node.rule is None:
                node.grad = node.grad + gradient
                continue
            for operand, share in zip(node._prev, node.rule(gradient)):
                shrunk = shrink(share, operand.data.shape)
                arrived[id(operand)] = shrunk + arrived.get(id(operand), 0.0)
                waiting[id(operand)] -= 1
                if waiting[id(operand)] == 0:
                    ready.append(operand)


def shrink(g, shape):
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    return g.sum(axis=tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True)


def two_layer(x, parameters):
    hidden = Array.tanh(x @ parameters[0] + parameters[1])
    return hidden @ parameters[2] + parameters[3]


def train(loss_of, parameters, rate, steps):
    def step():
        for p in parameters:
            p.grad = np.zeros(p.data.shape)
        loss = loss_of()
        loss.backward()
        for p in parameters:
            p.data -= rate * p.grad
        return loss.data.item()

    return [step() for _ in range(steps)]
