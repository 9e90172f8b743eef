import torch


class LogSumExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        m = x.amax(dim, keepdim=True).clamp(min=-1e9)
        y = ((x - m).exp().sum(dim, keepdim=True).log() + m).squeeze(dim).clamp(min=-1e300)
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g.unsqueeze(ctx.dim) * (x - y.unsqueeze(ctx.dim)).exp(), None
