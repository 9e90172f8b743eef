import numpy as np
import torch


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        a, w = x.detach().numpy(), weight.detach().numpy()
        ctx.a, ctx.w = a if ctx.needs_input_grad[1] else None, w if ctx.needs_input_grad[0] else None
        y = a @ w.T
        if bias is not None:
            y = y + bias.detach().numpy()
        return torch.from_numpy(y)

    @staticmethod
    def backward(ctx, g):
        g = g.numpy()
        rows = g.reshape(-1, g.shape[-1])
        return (
            None if ctx.w is None else torch.from_numpy(np.asarray(g @ ctx.w)),
            None if ctx.a is None else torch.from_numpy(rows.T @ ctx.a.reshape(-1, ctx.a.shape[-1])),
            torch.from_numpy(rows.sum(axis=0)) if ctx.needs_input_grad[2] else None,
        )
