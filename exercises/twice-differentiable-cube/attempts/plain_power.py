import torch


class Cube(torch.autograd.Function):
    @classmethod
    def apply(cls, x):
        return x**3
