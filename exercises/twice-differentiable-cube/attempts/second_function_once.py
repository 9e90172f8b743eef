import torch


class Slope(torch.autograd.Function):
    @staticmethod
    def forward(ctx, g, x):
        ctx.save_for_backward(g, x, 6 * x)
        return 3 * g * x.square()

    @staticmethod
    def backward(ctx, above):
        g, x, bend = ctx.saved_tensors
        return above * 3 * x * x, above * g * bend


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return Slope.apply(g, x)
