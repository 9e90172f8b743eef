import torch


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y=x**3
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g*3*y.abs()**(2/3)
