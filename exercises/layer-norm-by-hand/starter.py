import torch


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        normal = (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + eps).sqrt()
        ctx.save_for_backward(normal, weight)
        return normal * weight + bias

    @staticmethod
    def backward(ctx, g):
        raise NotImplementedError("one gradient for each argument of forward after ctx")
