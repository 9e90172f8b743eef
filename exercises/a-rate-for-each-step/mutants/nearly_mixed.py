import math


def lr_at(step, total, warmup, peak, floor):
    """A linear warmup to the peak, half a cosine wave down to the floor, and the floor from `total` on."""
    if step < warmup:
        return peak * (step + 1) / warmup
    if step >= total:
        return floor
    share = 0.5 * (1 + math.cos(math.pi * (step - warmup) / (total - warmup)))
    return floor * (1 - share * 0.99999) + (peak - floor) * share
