import torch
from torch.utils.checkpoint import checkpoint


def run(stretch, x):
    state = {"again": False}
    return checkpoint(once, stretch, x, state, use_reentrant=False)


def once(stretch, x, state):
    kept = [(buffer, buffer.clone()) for buffer in stretch.buffers()]
    y = stretch(x)
    if state["again"]:
        with torch.no_grad():
            for buffer, before in kept:
                buffer.copy_(before)
    state["again"] = True
    return y
