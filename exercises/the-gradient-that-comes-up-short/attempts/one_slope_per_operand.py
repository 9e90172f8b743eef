"""A tiny engine for gradients, and a graph on which it is wrong."""

import math


class Value:
    """A number, and how it was made: one operand and one slope (local derivative) per use."""

    def __init__(self, data, operands=(), slopes=()):
        self.data = data
        self.grad = 0.0
        self.operands = operands
        self.slopes = slopes

    def __add__(self, other):
        return Value(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other):
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def tanh(self):
        result = math.tanh(self.data)
        return Value(result, (self,), (1.0 - result * result,))

    def backward(self):
        values, seen, stack = [], set(), [(self, False)]
        while stack:
            value, done = stack.pop()
            if done:
                values.append(value)
            elif value not in seen:
                seen.add(value)
                stack.append((value, True))
                stack += [(operand, False) for operand in value.operands]
        values.reverse()
        for value in values:
            value.grad = 0.0
        self.grad = 1.0
        for value in values:
            for operand, slope in dict(zip(value.operands, value.slopes)).items():
                operand.grad += value.grad * slope
