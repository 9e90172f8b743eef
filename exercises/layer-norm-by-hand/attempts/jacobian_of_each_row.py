import torch


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        flat = x.reshape(-1, x.shape[-1])
        centre = torch.eye(x.shape[-1], dtype=x.dtype) - 1 / x.shape[-1]
        centred = flat @ centre
        deviation = torch.sqrt(torch.einsum("rn,rn->r", centred, centred) / x.shape[-1] + eps)
        ctx.save_for_backward(centre, centred, deviation, weight)
        return (centred / deviation[:, None] * weight + bias).reshape(x.shape)

    @staticmethod
    def backward(ctx, g):
        centre, centred, deviation, weight = ctx.saved_tensors
        flat = g.reshape(-1, g.shape[-1])
        normal = centred / deviation[:, None]
        jacobians = (centre - torch.einsum("ri,rj->rij", normal, normal) / len(weight)) / deviation[:, None, None]
        grad_x = torch.einsum("ri,i,rij->rj", flat, weight, jacobians).reshape(g.shape)
        return grad_x, torch.einsum("rn,rn->n", flat, normal), flat.sum(0), None
