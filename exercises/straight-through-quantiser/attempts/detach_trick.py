import torch


def quantise(x, s):
    clamped = x.clamp(0, 1)
    error = torch.round(clamped / s) * s - clamped
    return clamped + error.detach()
