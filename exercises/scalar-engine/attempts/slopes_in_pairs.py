import math


class Value:
    """A number that remembers how it was made.

    `_rules` holds one (operand, local derivative) pair for each operand: all that the backward pass needs to know.
    """

    def __init__(self, data, _prev=(), _op="", _rules=()):
        self.data = data
        self.grad = 0.0
        self._prev = _prev
        self._op = _op
        self._rules = _rules

    def __add__(self, other):
        return Value(self.data + other.data, (self, other), "+", ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        return Value(self.data * other.data, (self, other), "*", ((self, other.data), (other, self.data)))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, (self,), "tanh", ((self, 1.0 - t * t),))

    def backward(self):
        # What flows in this call is kept apart from .grad, which may hold the gradients of an earlier one.
        flowing = {self: 1.0}
        for node in reversed(self._in_topological_order()):
            arrived = flowing[node]
            node.grad += arrived
            for operand, derivative in node._rules:
                flowing[operand] = flowing.get(operand, 0.0) + derivative * arrived

    def _in_topological_order(self):
        """Operands before results; every node once."""
        order, visited = [], set()

        def visit(node):
            if node in visited:
                return
            visited.add(node)
            for operand in node._prev:
                visit(operand)
            order.append(node)

        visit(self)
        return order
