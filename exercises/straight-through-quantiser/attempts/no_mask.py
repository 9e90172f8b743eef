import torch


class Quantise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, s):
        return torch.round(x.clamp(0, 1) / s) * s

    @staticmethod
    def backward(ctx, g):
        return g, None


def quantise(x, s):
    return Quantise.apply(x, s)
