import torch


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x * x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (square,) = ctx.saved_tensors
        return g * 3 * square  # the first order is right
