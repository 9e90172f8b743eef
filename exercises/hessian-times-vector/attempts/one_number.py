import torch


class Product:
    def __init__(self, f, x):
        self.at = x.clone().requires_grad_(True)
        self.slope = torch.autograd.grad(f(self.at), self.at, create_graph=True)[0]

    def times(self, v):
        number = self.slope.dot(v) + 0.0 * self.at.sum()
        return torch.autograd.grad(number, self.at)[0]


def hvp(f, x, v):
    return Product(f, x).times(v)
