import torch


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x**2)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (square,) = ctx.saved_tensors
        return 3 * square * g
