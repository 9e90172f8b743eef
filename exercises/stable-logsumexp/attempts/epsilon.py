import torch


class LogSumExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        m = x.amax(dim, keepdim=True).clamp(min=-1e6)
        shifted = (x - m).exp()
        total = shifted.sum(dim, keepdim=True) + 1e-12
        ctx.save_for_backward(shifted / total)
        ctx.dim = dim
        return (total.log() + m).squeeze(dim)

    @staticmethod
    def backward(ctx, g):
        (share,) = ctx.saved_tensors
        return g.unsqueeze(ctx.dim) * share, None
