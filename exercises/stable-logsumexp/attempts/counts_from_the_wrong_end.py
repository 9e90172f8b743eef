import torch


class LogSumExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        dim = -dim - 1 if dim < 0 else dim
        m = x.amax(dim, keepdim=True).clamp(min=-1e9)
        y = ((x - m).exp().sum(dim, keepdim=True).log() + m).squeeze(dim)
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g.unsqueeze(ctx.dim) * (x - y.clamp(min=-1e9).unsqueeze(ctx.dim)).exp(), None
