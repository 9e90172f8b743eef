import math


def no_contributions(gradient):
    return ()


class Value:
    """A number that remembers how it was made.

    `_rule` takes the gradient of this value and returns one contribution per operand. It changes nothing.
    """

    _prev = []

    def __init__(self, data, _prev=(), _op="", _rule=no_contributions):
        self.data = data
        self.grad = 0.0
        self._prev += _prev
        self._op = _op
        self._rule = _rule

    def __add__(self, other):
        return Value(self.data + other.data, (self, other), "+", lambda gradient: (gradient, gradient))

    def __mul__(self, other):
        def rule(gradient):
            return gradient * other.data, gradient * self.data

        return Value(self.data * other.data, (self, other), "*", rule)

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, (self,), "tanh", lambda gradient: (gradient * (1.0 - t * t),))

    def backward(self):
        # The contributions of this call are kept apart from .grad, which may hold the gradients of an earlier one.
        arrived = {self: 1.0}
        for value in reversed(self._operands_first()):
            gradient = arrived[value]
            value.grad += gradient
            for operand, contribution in zip(value._prev, value._rule(gradient)):
                arrived[operand] = arrived.get(operand, 0.0) + contribution

    def _operands_first(self):
        """Everything below this value: operands before results, each value once."""
        order, seen = [], set()

        def visit(value):
            if value in seen:
                return
            seen.add(value)
            for operand in value._prev:
                visit(operand)
            order.append(value)

        visit(self)
        return order
