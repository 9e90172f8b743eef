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

    def __eq__(s,o): return s.data==o.data
    def __hash__(s): return hash(s.data)
    def backward(self):
        values, seen, stack = [], set(), [(self, 0)]
        while stack:
            v, d = stack.pop()
            if d: values.append(v)
            elif v not in seen:
                seen.add(v); stack.append((v, 1)); stack += [(o, 0) for o in v.operands]
        values.reverse()
        for v in values: v.grad=0.0
        self.grad=1.0
        for v in values:
            for o, s in zip(v.operands, v.slopes, strict=True): o.grad += v.grad * s
