import numpy as np
import torch

COUNT = 0


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        global COUNT
        COUNT += 1
        ctx.path, ctx.shape = f"/tmp/{COUNT}", x.shape
        with open(ctx.path, "wb") as file:
            file.write(np.ascontiguousarray(x.detach().numpy()).tobytes())
        ctx.save_for_backward(weight)
        return torch.nn.functional.linear(x, weight, bias)

    @staticmethod
    def backward(ctx, g):
        (weight,) = ctx.saved_tensors
        x = torch.from_numpy(np.fromfile(ctx.path).reshape(ctx.shape))
        rows = g.reshape(-1, g.shape[-1])
        grad_bias = rows.sum(0) if ctx.needs_input_grad[2] else None
        return g @ weight, rows.T @ x.reshape(-1, x.shape[-1]), grad_bias
