import torch


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(
            x if ctx.needs_input_grad[1] else None, weight if ctx.needs_input_grad[0] else None
        )
        y = x.matmul(weight.t())
        if bias is not None:
            y += bias
        return y

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        grads = [None] * 3
        if ctx.needs_input_grad[0]:
            grads[0] = (weight.t() @ g.unsqueeze(-1)).squeeze(-1) if g.dim() < 2 else g @ weight
        if ctx.needs_input_grad[1]:
            grads[1] = torch.zeros(g.shape[-1], x.shape[-1], dtype=g.dtype)
            for row, ups in zip(x.reshape(-1, x.shape[-1]), g.reshape(-1, g.shape[-1])):
                grads[1].addr_(ups, row)
        if ctx.needs_input_grad[2]:
            grads[2] = g.sum_to_size(g.shape[-1:])
        return tuple(grads)
