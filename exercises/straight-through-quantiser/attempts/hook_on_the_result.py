import torch


def quantise(x, s):
    own = x * 1
    if own.requires_grad:
        inside = (x.detach() >= 0) & (x.detach() <= 1)
        own.register_hook(lambda g: g * inside)
    with torch.no_grad():
        error = torch.round(x.clamp(0, 1) / s) * s - x
    return own + error
