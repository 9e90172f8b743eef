import torch


def hvp(f, x, v):
    return torch.autograd.functional.vhp(f, x, v)[1]
