import torch


class LogSumExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        ctx.save_for_backward(x)
        ctx.dim = dim
        return x.exp().sum(dim).log()  # overflows at a logit of 710

    @staticmethod
    def backward(ctx, g):
        raise NotImplementedError("one gradient for each argument of forward after ctx")
