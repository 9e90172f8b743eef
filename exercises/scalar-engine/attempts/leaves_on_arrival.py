import math
class Value:
    def __init__(self, data, _prev=(), _op=""):
        self.data, self.grad, self._prev, self._op = data, 0.0, _prev, _op
    def __add__(self, o): return Value(self.data + o.data, (self, o), "+")
    def __mul__(self, o): return Value(self.data * o.data, (self, o), "*")
    def tanh(self): return Value(math.tanh(self.data), (self,), "tanh")
    def backward(self):
        up = {id(self): 1.0}
        queue, seen = [self], {id(self)}
        while queue:
            v = queue.pop(0)
            g = up[id(v)]
            if not v._prev:
                v.grad += g
                continue
            if v._op == "+": parts = [(p, g) for p in v._prev]
            elif v._op == "*":
                a, b = v._prev
                parts = [(a, g * b.data), (b, g * a.data)]
            else: parts = [(v._prev[0], g * (1 - v.data ** 2))]
            for p, c in parts:
                up[id(p)] = up.get(id(p), 0.0) + c
                if id(p) not in seen:
                    seen.add(id(p)); queue.append(p)
