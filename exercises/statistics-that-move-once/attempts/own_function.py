import torch


class Again(torch.autograd.Function):
    """A checkpoint by hand. The parameters are inputs, so that their gradients have a way out."""

    @staticmethod
    def forward(ctx, stretch, x, *parameters):
        ctx.stretch, ctx.random = stretch, torch.get_rng_state()
        ctx.save_for_backward(x)
        ctx.parameters = parameters
        return stretch(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        state = [(buffer, buffer.clone()) for buffer in ctx.stretch.buffers()]
        x = x.detach().requires_grad_()
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(ctx.random)
            y = ctx.stretch(x)
        for buffer, before in state:
            buffer.data.copy_(before)
        return None, *torch.autograd.grad(y, (x, *ctx.parameters), g, allow_unused=True)


def run(stretch, x):
    return Again.apply(stretch, x, *stretch.parameters())
