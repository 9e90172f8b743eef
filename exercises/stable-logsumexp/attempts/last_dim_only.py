import torch


class LogSumExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        highest = x.amax(-1, keepdim=True)
        highest = torch.where(highest.isinf(), torch.zeros_like(highest), highest)
        y = (x - highest).exp().sum(-1, keepdim=True).log() + highest
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y.squeeze(-1)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        share = torch.where(y.isinf(), torch.zeros_like(x), (x - y).exp())
        return g.unsqueeze(-1) * share, None
