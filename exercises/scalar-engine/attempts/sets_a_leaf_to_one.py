import math
class Value:
    def __init__(self, data, _prev=(), _op=""):
        self.data, self.grad, self._prev, self._op = data, 0.0, _prev, _op
    def __add__(self, o): return Value(self.data + o.data, (self, o), "+")
    def __mul__(self, o): return Value(self.data * o.data, (self, o), "*")
    def tanh(self): return Value(math.tanh(self.data), (self,), "tanh")
    def backward(self):
        if not self._prev:
            self.grad = 1.0
            return
        order, seen = [], set()
        def visit(v):
            if id(v) in seen: return
            seen.add(id(v))
            for p in v._prev: visit(p)
            order.append(v)
        visit(self)
        up = {id(v): 0.0 for v in order}; up[id(self)] = 1.0
        for v in reversed(order):
            g = up[id(v)]
            if not v._prev: v.grad += g
            elif v._op == "+":
                for p in v._prev: up[id(p)] += g
            elif v._op == "*":
                a, b = v._prev
                up[id(a)] += g * b.data; up[id(b)] += g * a.data
            else: up[id(v._prev[0])] += g * (1 - v.data ** 2)
