import math


class Value:
    def __init__(self, data, _prev=(), _op="", slopes=()):
        self.data = data
        self.grad = 0.0
        self._prev = _prev
        self._op = _op
        self.slopes = slopes

    def __add__(self, other):
        return Value(self.data + other.data, (self, other), "+", (1.0, 1.0))

    def __mul__(self, other):
        return Value(self.data * other.data, (self, other), "*", (other.data, self.data))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, (self,), "tanh", (1 - t * t,))

    def backward(self, arrived=1.0):
        self.grad += arrived
        for operand, slope in zip(self._prev, self.slopes):
            operand.backward(arrived * slope)
