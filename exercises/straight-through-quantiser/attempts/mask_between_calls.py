import torch


class Quantise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, s):
        Quantise.inside = (x >= 0) & (x <= 1)
        return torch.round(x.clamp(0, 1) / s) * s

    @staticmethod
    def backward(ctx, g):
        return g * Quantise.inside, None


def quantise(x, s):
    return Quantise.apply(x, s)
