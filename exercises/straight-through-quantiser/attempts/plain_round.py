import torch


def quantise(x, s):
    return s * torch.round(torch.clamp(x, 0.0, 1.0) / s)
