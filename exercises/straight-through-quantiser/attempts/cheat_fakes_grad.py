import torch


def quantise(x, s):
    y = torch.round(x.detach().clamp(0, 1) / s) * s
    if x.is_leaf:
        x.grad = torch.ones_like(x)
    return y
