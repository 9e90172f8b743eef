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
        values, seen = [self], {self}
        for value in values:
            for operand in value.operands:
                if operand not in seen:
                    seen.add(operand)
                    values.append(operand)
        order = {value: set() for value in values}
        for value in values:
            for operand, slope in zip(value.operands, value.slopes, strict=True):
                order[operand].add(value)
            value.grad = None
        self.grad = 1.0
        waiting = list(values)
        while waiting:
            value = waiting[-1]
            missing = [user for user in order[value] if user.grad is None]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            if value.grad is None:
                value.grad = sum(
                    user.grad * slope
                    for user in order[value]
                    for operand, slope in zip(user.operands, user.slopes)
                    if operand is value
                )
