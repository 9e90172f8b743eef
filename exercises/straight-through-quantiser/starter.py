import torch


def quantise(x, s):
    return torch.round(x.clamp(0, 1) / s) * s  # autograd finds the slope of a step: zero
