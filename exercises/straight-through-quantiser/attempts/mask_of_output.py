import torch


class Quantise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, s):
        y = torch.round(x.clamp(0, 1) / s) * s
        ctx.save_for_backward((y > 0) & (y < 1))
        return y

    @staticmethod
    def backward(ctx, g):
        (inside,) = ctx.saved_tensors
        return g * inside, None


def quantise(x, s):
    return Quantise.apply(x, s)
