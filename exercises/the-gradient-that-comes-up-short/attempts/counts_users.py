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
            for o in value.operands:
                if o not in seen: seen.add(o); values.append(o)
        n={v:0 for v in values}
        for v in values:
            v.grad=0.0
            for o in set(v.operands): n[o]+=1
        self.grad=1.0; ready=[self]
        for v in ready:
            for o,s in zip(v.operands,v.slopes, strict=True):
                o.grad+=v.grad*s; n[o]-=1
                if n[o]==0: ready.append(o)
