import torch


class LogSumExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, y):
        return y.clone()

    @staticmethod
    def backward(ctx, g):
        return g

    @classmethod
    def apply(cls, x, dim):
        m = x.detach().amax(dim, keepdim=True).clamp(min=-1e9)
        y = ((x - m).exp().sum(dim, keepdim=True).log() + m).squeeze(dim)
        return super().apply(y)
