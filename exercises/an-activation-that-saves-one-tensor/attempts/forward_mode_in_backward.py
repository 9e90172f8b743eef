import torch


class Gate(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return torch.tanh(x).mul_(torch.nn.functional.silu(x))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        tangents = torch.func.jvp(lambda z: torch.tanh(z) * torch.nn.functional.silu(z), (x,), (torch.ones_like(x),))
        return g * tangents[1]


def act(x):
    return Gate.apply(x)
