import torch
from torch.utils.checkpoint import checkpoint


def run(stretch, x):
    return checkpoint(alternate, stretch, x, use_reentrant=False)


def alternate(stretch, x):
    """Every second run of a stretch is taken for the one in the backward pass."""
    again = getattr(stretch, "again", False)
    stretch.again = not again
    kept = [(buffer, buffer.clone()) for buffer in stretch.buffers()]
    try:
        return stretch(x)
    finally:
        if again:
            with torch.no_grad():
                for buffer, before in kept:
                    buffer.copy_(before)
