import torch


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, y):
        return y.clone()

    @staticmethod
    def backward(ctx, g):
        return g

    @classmethod
    def apply(cls, x, weight, bias, eps):
        return super().apply(torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, eps))
