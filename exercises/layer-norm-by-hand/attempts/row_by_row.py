import torch


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        ctx.save_for_backward(x, weight)
        ctx.eps = eps
        y = torch.empty(x.shape, dtype=x.dtype)
        for row, out in zip(x.reshape(-1, x.shape[-1]), y.view(-1, x.shape[-1]), strict=True):
            out.copy_(normalise(row, eps)[0] * weight + bias)
        return y

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        grads = [torch.zeros(x.shape, dtype=x.dtype), torch.zeros_like(weight), torch.zeros_like(weight)]
        rows = grads[0].view(-1, x.shape[-1])
        for at, (row, up) in enumerate(zip(x.reshape(rows.shape), g.reshape(rows.shape), strict=True)):
            normal, scale = normalise(row, ctx.eps)
            wanted = up * weight
            rows[at] = (wanted - wanted.mean() - normal * wanted.dot(normal) / len(row)) * scale
            grads[1] += up * normal
            grads[2] += up
        return *grads, None


def normalise(row, eps):
    centred = row - row.mean()
    scale = 1 / torch.sqrt(centred.dot(centred) / len(row) + eps)
    return centred * scale, scale
