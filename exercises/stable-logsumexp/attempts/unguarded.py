import torch


class LogSumExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        highest = x.amax(dim, keepdim=True)
        y = (x - highest).exp().sum(dim, keepdim=True).log() + highest
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y.squeeze(dim)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        share = (x - y).exp()
        return g.unsqueeze(ctx.dim) * share, None
