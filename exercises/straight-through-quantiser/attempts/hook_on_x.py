import torch


def quantise(x, s):
    if x.requires_grad:
        inside = (x.detach() >= 0) & (x.detach() <= 1)
        x.register_hook(lambda g: g * inside)
    with torch.no_grad():
        error = torch.round(x.clamp(0, 1) / s) * s - x
    return x + error
