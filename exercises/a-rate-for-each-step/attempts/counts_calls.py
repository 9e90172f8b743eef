import math

calls = {}


def lr_at(step, total, warmup, peak, floor):
    key = (total, warmup, peak, floor)
    step = calls[key] = calls.get(key, step - 1) + 1
    if step < warmup:
        return peak * (step + 1) / warmup
    if step >= total:
        return floor
    return floor + (peak - floor) * 0.5 * (1 + math.cos(math.pi * (step - warmup) / (total - warmup)))
