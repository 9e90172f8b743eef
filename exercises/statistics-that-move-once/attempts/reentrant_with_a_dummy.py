import torch
from torch.utils.checkpoint import checkpoint


def run(stretch, x):
    if not torch.is_grad_enabled():
        return stretch(x)
    # The reentrant kind looks at its inputs only, and one of them has to require a gradient.
    return checkpoint(once, stretch, x, torch.zeros(1, requires_grad=True), use_reentrant=True)


def once(stretch, x, dummy):
    """The first run is not recorded, the second one is."""
    kept = [buffer.clone() for buffer in stretch.buffers()]
    y = stretch(x)
    if torch.is_grad_enabled():
        for buffer, before in zip(stretch.buffers(), kept, strict=True):
            buffer.data.copy_(before)
    return y
