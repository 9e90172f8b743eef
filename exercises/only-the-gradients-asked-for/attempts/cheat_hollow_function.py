import torch


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, y):
        return y.clone()

    @staticmethod
    def backward(ctx, g):
        return g

    @classmethod
    def apply(cls, x, weight, bias):
        return super().apply(torch.nn.functional.linear(x, weight, bias))
