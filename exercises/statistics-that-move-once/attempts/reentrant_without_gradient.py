import torch
from torch.utils.checkpoint import checkpoint


def run(stretch, x):
    return checkpoint(once, stretch, x, use_reentrant=True)


def once(stretch, x):
    """The reentrant kind records nothing in the first run."""
    kept = [(buffer, buffer.clone()) for buffer in stretch.buffers()]
    y = stretch(x)
    if torch.is_grad_enabled():
        for buffer, before in kept:
            buffer.data.copy_(before)
    return y
