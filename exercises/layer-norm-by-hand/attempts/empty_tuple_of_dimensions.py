import torch


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        centred = x - x.mean(-1, keepdim=True)
        scale = (centred.square().mean(-1, keepdim=True) + eps).rsqrt()
        normal = centred * scale
        ctx.save_for_backward(normal, scale, weight)
        return normal * weight + bias

    @staticmethod
    def backward(ctx, g):
        normal, scale, weight = ctx.saved_tensors
        wanted = g * weight
        along = (wanted * normal).mean(-1, keepdim=True)
        grad_x = scale * (wanted - wanted.mean(-1, keepdim=True) - normal * along)
        rows = tuple(range(g.dim() - 1))  # empty for a vector, and an empty tuple stands for all dimensions
        return grad_x, (g * normal).sum(rows), g.sum(rows), None
