import torch


def quantise(x, s):
    clamped = x.clamp(0, 1)
    return (clamped + torch.round(clamped / s) * s - clamped).detach()
