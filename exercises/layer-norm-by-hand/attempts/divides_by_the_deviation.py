import torch


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        centred = x - x.mean(-1, keepdim=True)
        deviation = centred.square().mean(-1, keepdim=True).sqrt()
        scale = (deviation.square() + eps).rsqrt()
        normal = centred * scale
        ctx.save_for_backward(centred, deviation, normal, scale, weight)
        return normal * weight + bias

    @staticmethod
    def backward(ctx, g):
        centred, deviation, normal, scale, weight = ctx.saved_tensors
        wanted = g * weight
        along = (wanted * centred).mean(-1, keepdim=True) * deviation / deviation * scale
        grad_x = scale * (wanted - wanted.mean(-1, keepdim=True) - normal * along)
        flat = (-1, g.shape[-1])
        return grad_x, (g * normal).reshape(flat).sum(0), g.reshape(flat).sum(0), None
