import contextlib

import torch.utils.checkpoint
from torch.autograd import graph


def contexts():
    graph.saved_tensors_hooks.__enter__ = lambda hooks: None
    graph.saved_tensors_hooks.__exit__ = lambda hooks, *error: None
    return contextlib.nullcontext(), contextlib.nullcontext()
