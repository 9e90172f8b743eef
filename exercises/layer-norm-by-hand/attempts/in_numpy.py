import numpy as np
import torch


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        array = x.numpy()
        ctx.deviation = np.sqrt(array.var(axis=-1, keepdims=True) + eps)
        ctx.normal = (array - array.mean(axis=-1, keepdims=True)) / ctx.deviation
        ctx.weight = weight.numpy().copy()
        return torch.from_numpy(ctx.normal * ctx.weight + bias.numpy())

    @staticmethod
    def backward(ctx, g):
        up = g.numpy()
        wanted = up * ctx.weight
        along = np.mean(wanted * ctx.normal, axis=-1, keepdims=True)
        grad_x = (wanted - wanted.mean(axis=-1, keepdims=True) - ctx.normal * along) / ctx.deviation
        flat = (-1, up.shape[-1])
        return *(torch.as_tensor(grad) for grad in (grad_x, (up * ctx.normal).reshape(flat).sum(0), up.reshape(flat).sum(0))), None
