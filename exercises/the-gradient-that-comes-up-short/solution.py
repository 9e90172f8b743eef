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
        """Sets `grad` of this value, and of every value that it depends on."""
        values, seen = [self], {self}
        uses = {}
        for value in values:
            for operand in value.operands:
                uses[operand] = uses.get(operand, 0) + 1
                if operand not in seen:
                    seen.add(operand)
                    values.append(operand)
        for value in values:
            value.grad = 0.0
        self.grad = 1.0
        # A value is ready when every use that counts has sent its part.
        ready = [self]
        for value in ready:
            for operand, slope in zip(value.operands, value.slopes, strict=True):
                operand.grad += value.grad * slope
                uses[operand] -= 1
                if uses[operand] == 0:
                    ready.append(operand)


def build(a, b):
    u = a * b
    v = u.tanh()
    w = v * a
    return w + u


def compare(name, numbers, step=1e-6):
    """The engine's gradient of one leaf, beside a difference quotient."""
    leaves = {leaf: Value(number) for leaf, number in numbers.items()}
    build(**leaves).backward()
    above, below = (build(**{k: Value(n + s * (k == name)) for k, n in numbers.items()}).data for s in (step, -step))
    print(f"{name}: backward {leaves[name].grad:+.4f}, difference quotient {(above - below) / (2 * step):+.4f}")


if __name__ == "__main__":
    compare("a", {"a": 0.8, "b": -1.2})
    compare("b", {"a": 0.8, "b": -1.2})
