import torch


def formula(x, dim):
    m = x.detach().amax(dim, keepdim=True).clamp(min=-1e9)
    return ((x - m).exp().sum(dim, keepdim=True).log() + m).squeeze(dim)


class LogSumExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        ctx.save_for_backward(x)
        ctx.dim = dim
        return formula(x, dim)

    @staticmethod
    def backward(ctx, g):
        x = ctx.saved_tensors[0].detach().requires_grad_()
        with torch.enable_grad():
            y = formula(x, ctx.dim)
            # A row of -inf alone would be 0 * inf in the backward of the logarithm.
            y = torch.where(y.isinf(), torch.zeros_like(y), y)
        (gradient,) = torch.autograd.grad(y, x, g)
        return torch.nan_to_num(gradient), None
