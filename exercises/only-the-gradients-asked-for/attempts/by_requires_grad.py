import torch


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.wants = [one is not None and one.requires_grad for one in (x, weight, bias)]
        needed = [one for one, partner in ((weight, x), (x, weight)) if partner.requires_grad]
        ctx.save_for_backward(*needed)
        return torch.nn.functional.linear(x, weight, bias)

    @staticmethod
    def backward(ctx, g):
        found, saved = [None, None, None], list(ctx.saved_tensors)
        if ctx.wants[0]:
            found[0] = torch.matmul(g, saved.pop(0))
        if ctx.wants[1]:
            found[1] = g.flatten(0, -2).t() @ saved[0].flatten(0, -2) if g.dim() > 1 else torch.outer(g, saved[0])
        if ctx.wants[2]:
            found[2] = g.flatten(0, -2).sum(0) if g.dim() > 1 else g.clone()
        return tuple(found)
