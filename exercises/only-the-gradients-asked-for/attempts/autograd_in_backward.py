import torch


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(
            x if ctx.needs_input_grad[1] else None, weight if ctx.needs_input_grad[0] else None
        )
        ctx.shapes = x.shape, weight.shape
        return torch.nn.functional.linear(x, weight, bias)

    @staticmethod
    def backward(ctx, g):
        saved = dict(zip(("x", "weight"), ctx.saved_tensors))
        grad_x = grad_weight = None
        with torch.enable_grad():
            if saved["weight"] is not None:
                x = torch.zeros(ctx.shapes[0], dtype=g.dtype, requires_grad=True)
                y = torch.nn.functional.linear(x, saved["weight"].detach())
                (grad_x,) = torch.autograd.grad(y, x, g)
            if saved["x"] is not None:
                weight = torch.zeros(ctx.shapes[1], dtype=g.dtype, requires_grad=True)
                y = torch.nn.functional.linear(saved["x"].detach(), weight)
                (grad_weight,) = torch.autograd.grad(y, weight, g)
        grad_bias = g.sum_to_size(g.shape[-1:]) if ctx.needs_input_grad[2] else None
        return grad_x, grad_weight, grad_bias
