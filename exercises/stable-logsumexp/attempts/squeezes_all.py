import torch


class LogSumExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        m = x.amax(dim, keepdim=True).clamp(min=-1e9)
        y = (x - m).exp().sum(dim, keepdim=True).log() + m
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y.squeeze()

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g.reshape(y.shape) * (x - y.clamp(min=-1e9)).exp(), None
