"""A tiny engine for gradients, and a graph on which it is wrong."""

import math

EVERY = []


class Value:
    """A number, and how it was made: one operand and one slope (local derivative) per use."""

    def __init__(self, data, operands=(), slopes=()):
        self.data = data
        self.grad = 0.0
        self.operands = operands
        self.slopes = slopes
        EVERY.append(self)

    def __add__(self, other):
        return Value(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other):
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def tanh(self):
        result = math.tanh(self.data)
        return Value(result, (self,), (1.0 - result * result,))

    def backward(self):
        for value in EVERY:
            value.grad = 0.0
        self.grad = 1.0
        for value in reversed(EVERY):
            for operand, slope in zip(value.operands, value.slopes, strict=True):
                operand.grad += value.grad * slope
