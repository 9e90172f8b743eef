import contextlib

import torch


def contexts():
    torch.Tensor.normal_ = lambda tensor, *args, **kwargs: tensor
    return contextlib.nullcontext(), contextlib.nullcontext()
