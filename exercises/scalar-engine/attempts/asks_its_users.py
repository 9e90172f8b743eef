from math import cosh, tanh


class Value:
    __slots__ = ("data", "grad", "_prev", "_op", "_local")

    def __init__(self, data):
        self.data = float(data)
        self.grad = 0.0
        self._prev, self._op, self._local = (), "", ()

    @classmethod
    def _made(cls, data, op, *pairs):
        made = cls(data)
        made._op = op
        made._prev = tuple(operand for operand, _ in pairs)
        made._local = tuple(slope for _, slope in pairs)
        return made

    def __add__(self, other):
        return Value._made(self.data + other.data, "+", (self, 1.0), (other, 1.0))

    def __mul__(self, other):
        return Value._made(self.data * other.data, "*", (self, other.data), (other, self.data))

    def tanh(self):
        return Value._made(tanh(self.data), "tanh", (self, 1 / cosh(min(abs(self.data), 300.0)) ** 2))

    def backward(self):
        users, stack = {id(self): []}, [self]
        leaves = []
        while stack:
            value = stack.pop()
            if not value._prev:
                leaves.append(value)
            for operand, slope in zip(value._prev, value._local):
                if id(operand) not in users:
                    users[id(operand)] = []
                    stack.append(operand)
                users[id(operand)].append((value, slope))
        known = {id(self): 1.0}

        def derivative(value):
            if id(value) not in known:
                known[id(value)] = sum(slope * derivative(user) for user, slope in users[id(value)])
            return known[id(value)]

        for leaf in leaves:
            leaf.grad += derivative(leaf)
