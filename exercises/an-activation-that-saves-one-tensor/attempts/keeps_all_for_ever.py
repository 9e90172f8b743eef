import torch

kept = []


class Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.place = len(kept)
        kept.append(x.clone())
        return x * torch.sigmoid(x) * torch.tanh(x)

    @staticmethod
    def backward(ctx, g):
        x = kept[ctx.place]
        s, t = torch.sigmoid(x), torch.tanh(x)
        return g * (s * t + x * (s * (1 - s) * t + s * (1 - t * t)))


def act(x):
    return Gate.apply(x)
