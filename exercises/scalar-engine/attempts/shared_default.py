import math


class Value:
    def __init__(self, data, _prev=[], _op=""):
        self.data = data
        self.grad = 0.0
        self._prev = _prev
        self._op = _op
        self.rules = []

    def result(self, data, op, *rules):
        out = Value(data, _op=op)
        for operand, slope in rules:
            out._prev.append(operand)
            out.rules.append((operand, slope))
        return out

    def __add__(self, other):
        return self.result(self.data + other.data, "+", (self, 1.0), (other, 1.0))

    def __mul__(self, other):
        return self.result(self.data * other.data, "*", (self, other.data), (other, self.data))

    def tanh(self):
        t = math.tanh(self.data)
        return self.result(t, "tanh", (self, 1 - t * t))

    def backward(self):
        order, visited = [], set()

        def visit(node):
            if node not in visited:
                visited.add(node)
                for operand, _ in node.rules:
                    visit(operand)
                order.append(node)

        visit(self)
        self.grad = 1.0
        for node in reversed(order):
            for operand, slope in node.rules:
                operand.grad += slope * node.grad
