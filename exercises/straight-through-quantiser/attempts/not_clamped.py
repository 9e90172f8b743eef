import torch


class Quantise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, s):
        ctx.save_for_backward((x >= 0) & (x <= 1))
        return torch.round(x / s) * s

    @staticmethod
    def backward(ctx, g):
        (inside,) = ctx.saved_tensors
        return g * inside, None


def quantise(x, s):
    return Quantise.apply(x, s)
