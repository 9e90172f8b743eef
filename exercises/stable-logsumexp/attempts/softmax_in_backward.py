import torch


class LogSumExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        m = torch.nan_to_num(x.max(dim, keepdim=True).values, neginf=0.0)
        e = torch.exp(x - m)
        total = e.sum(dim, keepdim=True)
        ctx.dim = dim
        ctx.save_for_backward(e / total.clamp(min=1e-300))
        return (m + total.log()).squeeze(dim)

    @staticmethod
    def backward(ctx, g):
        (softmax,) = ctx.saved_tensors
        return softmax * g.unsqueeze(ctx.dim), None
