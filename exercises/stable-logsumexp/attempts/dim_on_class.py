import torch


class LogSumExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        m = x.amax(dim, keepdim=True)
        m = torch.where(m.isinf(), torch.zeros_like(m), m)
        y = (x - m).exp().sum(dim).log() + m.squeeze(dim)
        ctx.save_for_backward(x, y)
        LogSumExp.dim = dim
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        y = torch.where(y.isinf(), torch.zeros_like(y), y)
        return g.unsqueeze(LogSumExp.dim) * (x - y.unsqueeze(LogSumExp.dim)).exp(), None
