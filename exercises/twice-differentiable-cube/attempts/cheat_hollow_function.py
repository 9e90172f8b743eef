import torch


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, y):
        return y.view_as(y)

    @staticmethod
    def backward(ctx, g):
        return g

    @classmethod
    def apply(cls, x):
        return super().apply(x**3)
