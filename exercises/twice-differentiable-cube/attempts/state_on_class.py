import torch


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        Cube.x = x
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        x = Cube.x
        return g * 3 * x * x
