import torch


class Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, project, heads, cap):
        ctx.save_for_backward(x, weight)
        ctx.rest = project, heads, cap
        return compute(x, project, heads, cap)

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            y = compute(x, *ctx.rest)
        if weight.requires_grad:
            return *torch.autograd.grad(y, (x, ctx.rest[0].weight), g), None, None, None
        return *torch.autograd.grad(y, x, g), None, None, None, None


def attend(x, project, heads, cap):
    return Attention.apply(x, project.weight, project, heads, cap)


def compute(x, project, heads, cap):
    rows, tokens, channels = x.shape
    q, k, v = project(x).view(rows, tokens, 3, heads, channels // heads).permute(2, 0, 3, 1, 4)
    mixed = core(q, k, v, cap)
    return mixed.transpose(1, 2).reshape(rows, tokens, channels)


def core(q, k, v, cap):
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    return (cap * torch.tanh(scores / cap)).softmax(-1) @ v
