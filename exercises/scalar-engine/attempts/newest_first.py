import heapq
import itertools
import math

numbers = itertools.count()


class Value:
    def __init__(self, data, operands=(), op=""):
        self.data, self.grad = data, 0.0
        self._prev, self._op = list(operands), op
        self._number = next(numbers)

    def __add__(self, other):
        return Value(self.data + other.data, [self, other], "+")

    def __mul__(self, other):
        return Value(self.data * other.data, [self, other], "*")

    def tanh(self):
        return Value(math.tanh(self.data), [self], "tanh")

    def _slopes(self):
        if self._op == "+":
            return 1.0, 1.0
        if self._op == "*":
            return self._prev[1].data, self._prev[0].data
        return (1 - self.data**2,)

    def backward(self):
        upstream = {self._number: 1.0}
        heap = [(-self._number, self)]
        while heap:
            number, value = heapq.heappop(heap)
            g = upstream.pop(-number)
            if not value._prev:
                value.grad += g
                continue
            for operand, slope in zip(value._prev, value._slopes()):
                if operand._number not in upstream:
                    upstream[operand._number] = 0.0
                    heapq.heappush(heap, (-operand._number, operand))
                upstream[operand._number] += g * slope
