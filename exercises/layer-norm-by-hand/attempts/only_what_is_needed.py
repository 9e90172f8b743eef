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
        grads = [None] * 4
        rows = list(range(g.dim()))[:-1]
        if ctx.needs_input_grad[0]:
            wanted = g * weight
            centred = wanted - wanted.mean(-1, keepdim=True)
            grads[0] = scale * (centred - normal * (centred * normal).mean(-1, keepdim=True))
        if ctx.needs_input_grad[1]:
            grads[1] = (g * normal).sum(rows) if rows else g * normal
        if ctx.needs_input_grad[2]:
            grads[2] = g.sum(rows) if rows else g
        return tuple(grads)
