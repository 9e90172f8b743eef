import torch


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        centred = x - x.mean(-1, keepdim=True)
        scale = (centred.square().mean(-1, keepdim=True) + eps).rsqrt()
        normal = centred * scale
        LayerNorm.kept = normal, scale, weight
        return normal * weight + bias

    @staticmethod
    def backward(ctx, g):
        normal, scale, weight = LayerNorm.kept
        wanted = g * weight
        along = (wanted * normal).mean(-1, keepdim=True)
        grad_x = scale * (wanted - wanted.mean(-1, keepdim=True) - normal * along)
        flat = (-1, g.shape[-1])
        return grad_x, (g * normal).reshape(flat).sum(0), g.reshape(flat).sum(0), None
