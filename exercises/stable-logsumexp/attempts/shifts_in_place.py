import torch


class LogSumExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        m = x.amax(dim, keepdim=True).clamp(min=-1e9)
        x.sub_(m)
        e = x.exp()
        total = e.sum(dim, keepdim=True)
        ctx.save_for_backward(e / total.clamp(min=1e-300))
        ctx.dim = dim
        return (m + total.log()).squeeze(dim)

    @staticmethod
    def backward(ctx, g):
        (share,) = ctx.saved_tensors
        return g.unsqueeze(ctx.dim) * share, None
