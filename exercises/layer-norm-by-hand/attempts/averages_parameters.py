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
        flat = (-1, g.shape[-1])
        return grad_x, (g * normal).reshape(flat).mean(0), g.reshape(flat).mean(0), None
