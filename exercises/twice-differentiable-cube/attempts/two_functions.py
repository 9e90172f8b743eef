import torch


class Slope(torch.autograd.Function):
    @staticmethod
    def forward(ctx, g, x):
        ctx.save_for_backward(g, x)
        return 3 * g * x.square()

    @staticmethod
    def backward(ctx, above):
        g, x = ctx.saved_tensors
        return Slope.apply(above, x), 6 * above * g * x


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return Slope.apply(g, x)
