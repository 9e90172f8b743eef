import torch


class Quantise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, s):
        rounded = torch.round(x / s) * s
        ctx.save_for_backward((rounded >= 0) & (rounded <= 1))
        return rounded.clamp(0, 1)

    @staticmethod
    def backward(ctx, g):
        (inside,) = ctx.saved_tensors
        return g * inside, None


def quantise(x, s):
    return Quantise.apply(x, s)
