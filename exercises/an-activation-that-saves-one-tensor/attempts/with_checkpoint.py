import torch
from torch.utils.checkpoint import checkpoint


def plain(x):
    return x * torch.sigmoid(x) * torch.tanh(x)


def act(x):
    return checkpoint(plain, x, use_reentrant=False)
