import math


def lr_at(step, total, warmup, peak, floor):
    """The learning rate of one optimizer step; steps count from 0."""
    if step < warmup:
        return peak * step / warmup
    return peak * 0.5 * (1 + math.cos(math.pi * step / total))
