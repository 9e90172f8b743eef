import torch


class LogSumExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        y = x.exp().sum(dim, keepdim=True).log()
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y.squeeze(dim)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        share = x.exp() / x.exp().sum(ctx.dim, keepdim=True)
        return g.unsqueeze(ctx.dim) * share, None
