import torch


class Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        s, t = torch.sigmoid(x), torch.tanh(x)
        ctx.save_for_backward(x)
        ctx.slope = (s * t + x * (s * (1 - s) * t + s * (1 - t * t))).numpy()
        return x * torch.sigmoid(x) * torch.tanh(x)

    @staticmethod
    def backward(ctx, g):
        ctx.saved_tensors  # raises an error if x has changed
        return g * torch.from_numpy(ctx.slope)


def act(x):
    return Gate.apply(x)
