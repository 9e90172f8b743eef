import numpy as np


class Array:
    """A numpy array that remembers how it was made."""

    def __init__(self, data, _prev=(), _op=""):
        self.data = np.array(data, dtype=float)
        self.grad = np.zeros_like(self.data)
        self._prev = _prev
        self._op = _op
        self._pass_on = lambda: None

    def __add__(self, other):
        out = Array(self.data + other.data, (self, other), "+")

        def pass_on():
            self.grad += bring_home(out.grad, self.data.shape)
            other.grad += bring_home(out.grad, other.data.shape)

        out._pass_on = pass_on
        return out

    def __sub__(self, other):
        out = Array(self.data - other.data, (self, other), "-")

        def pass_on():
            self.grad += bring_home(out.grad, self.data.shape)
            other.grad -= bring_home(out.grad, other.data.shape)

        out._pass_on = pass_on
        return out

    def __mul__(self, other):
        out = Array(self.data * other.data, (self, other), "*")

        def pass_on():
            self.grad += bring_home(out.grad * out.data / self.data, self.data.shape)
            other.grad += bring_home(out.grad * self.data, other.data.shape)

        out._pass_on = pass_on
        return out

    def __matmul__(self, other):
        out = Array(self.data @ other.data, (self, other), "@")

        def pass_on():
            self.grad += out.grad @ other.data.T
            other.grad += self.data.T @ out.grad

        out._pass_on = pass_on
        return out

    def tanh(self):
        out = Array(np.tanh(self.data), (self,), "tanh")

        def pass_on():
            self.grad += out.grad * (1 - out.data**2)

        out._pass_on = pass_on
        return out

    def sum(self):
        out = Array(self.data.sum(), (self,), "sum")

        def pass_on():
            self.grad += out.grad

        out._pass_on = pass_on
        return out

    def backward(self):
        order, visited = [], set()

        def visit(node):
            if node not in visited:
                visited.add(node)
                for operand in node._prev:
                    visit(operand)
                order.append(node)

        visit(self)
        self.grad = np.ones_like(self.data)
        for node in reversed(order):
            node._pass_on()


def bring_home(gradient, shape):
    """Adds up the copies that broadcasting made of an operand."""
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    for axis, size in enumerate(shape):
        if size == 1:
            gradient = gradient.sum(axis=axis, keepdims=True)
    return gradient


def two_layer(x, parameters):
    w1, b1, w2, b2 = parameters
    return (x @ w1 + b1).tanh() @ w2 + b2


def train(loss_of, parameters, rate, steps):
    losses = []
    for _ in range(steps):
        loss = loss_of()
        losses.append(float(loss.data))
        for parameter in parameters:
            parameter.grad = np.zeros_like(parameter.data)
        loss.backward()
        for parameter in parameters:
            parameter.data = parameter.data - rate * parameter.grad
    return losses
