import torch


class LogSumExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        raw = x.as_strided(x.shape, torch.empty(x.shape).stride())
        m = raw.amax(dim, keepdim=True).clamp(min=-1e9)
        y = ((raw - m).exp().sum(dim, keepdim=True).log() + m).squeeze(dim)
        ctx.save_for_backward(raw, y)
        ctx.dim = dim
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g.unsqueeze(ctx.dim) * (x - y.clamp(min=-1e9).unsqueeze(ctx.dim)).exp(), None
