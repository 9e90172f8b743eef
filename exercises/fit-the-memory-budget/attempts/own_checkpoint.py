import torch


class RunAgain(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, key, layers):
        ctx.layers = layers
        ctx.save_for_backward(x)
        return run(layers, x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            start = x.detach().requires_grad_()
            run(ctx.layers, start).backward(gradient)
        return start.grad, None, None


def forward(layers, x):
    # Something has to require a gradient, or the first segment would stay outside of the graph.
    key = torch.ones(1, requires_grad=True)
    for first in range(0, len(layers), 2):
        x = RunAgain.apply(x, key, layers[first : first + 2])
    return x


def run(layers, x):
    for layer in layers:
        x = layer(x)
    return x
