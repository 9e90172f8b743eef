import torch


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        y = x @ weight.T
        return y if bias is None else y + bias

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        rows = g.reshape(-1, g.shape[-1])
        grad_x = g @ weight
        grad_weight = rows.T @ x.reshape(-1, x.shape[-1])
        found = grad_x, grad_weight, rows.sum(0)
        return tuple(one if wanted else None for one, wanted in zip(found, ctx.needs_input_grad))
