import torch


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(x, weight, bias):
        y = torch.einsum("...i,oi->...o", x, weight)
        return y if bias is None else y.add_(bias)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, weight, _ = inputs
        ctx.save_for_backward(*(one if wanted else None for one, wanted in zip((weight, x), ctx.needs_input_grad)))

    @staticmethod
    def backward(ctx, g):
        weight, x = ctx.saved_tensors
        return (
            None if weight is None else torch.einsum("...o,oi->...i", g, weight),
            None if x is None else torch.einsum("...o,...i->oi", g, x),
            torch.einsum("...o->o", g) if ctx.needs_input_grad[2] else None,
        )
