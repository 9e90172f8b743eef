import torch


class LogSumExp(torch.autograd.Function):
    share = None
    dim = None

    @staticmethod
    def forward(ctx, x, dim):
        m = x.amax(dim, keepdim=True).clamp(min=-1e9)
        e = (x - m).exp()
        total = e.sum(dim, keepdim=True)
        LogSumExp.share = e / total.clamp(min=1e-300)
        LogSumExp.dim = dim
        return (m + total.log()).squeeze(dim)

    @staticmethod
    def backward(ctx, g):
        return g.unsqueeze(LogSumExp.dim) * LogSumExp.share, None
