import math


class Value:
    def __init__(self, data, _prev=frozenset(), _op=""):
        self.data = data
        self.grad = 0.0
        self._prev = _prev
        self._op = _op
        self._pass_on = lambda: None

    def __add__(self, other):
        out = Value(self.data + other.data, {self, other}, "+")

        def pass_on():
            self.grad += out.grad
            other.grad += out.grad

        out._pass_on = pass_on
        return out

    def __mul__(self, other):
        out = Value(self.data * other.data, {self, other}, "*")

        def pass_on():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._pass_on = pass_on
        return out

    def tanh(self):
        t = math.tanh(self.data)
        out = Value(t, {self}, "tanh")

        def pass_on():
            self.grad += (1 - t**2) * out.grad

        out._pass_on = pass_on
        return out

    def backward(self):
        used = {}
        stack, seen = [self], {self}
        while stack:
            for operand in stack.pop()._prev:
                used[operand] = used.get(operand, 0) + 1
                if operand not in seen:
                    seen.add(operand)
                    stack.append(operand)
        self.grad += 1.0
        ready = [self]
        while ready:
            node = ready.pop()
            node._pass_on()
            for operand in node._prev:
                used[operand] -= 1
                if not used[operand]:
                    ready.append(operand)
