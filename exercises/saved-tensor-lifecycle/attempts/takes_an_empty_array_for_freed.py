import numpy as np
class Exp:
    def forward(self, x):
        self.y = np.exp(x); return self.y
    def backward(self, g, retain=False):
        if self.y is None: raise RuntimeError("freed")
        out = g * self.y
        if not retain: self.y = None
        return out
class Mul:
    def forward(self, a, b):
        self.a, self.b = a, b; return a * b
    def backward(self, g, retain=False):
        if self.a is None or not (np.any(self.a) or np.any(self.b)): raise RuntimeError("freed")
        out = g * self.b, g * self.a
        if not retain: self.a = self.b = None
        return out
class Add:
    def forward(self, a, b): return a + b
    def backward(self, g, retain=False): return g, g
