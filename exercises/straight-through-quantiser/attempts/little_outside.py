import torch


class Quantise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, s):
        ctx.save_for_backward((x >= 0) & (x <= 1))
        return torch.round(x.clamp(0, 1) / s) * s

    @staticmethod
    def backward(ctx, g):
        (inside,) = ctx.saved_tensors
        return torch.where(inside, g, g * 1e-12), None


def quantise(x, s):
    return Quantise.apply(x, s)
