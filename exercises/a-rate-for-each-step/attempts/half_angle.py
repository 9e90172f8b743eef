from math import cos, pi


def lr_at(step, total, warmup, peak, floor):
    if step >= max(total, warmup):
        return floor
    if step >= warmup:
        return floor + (peak - floor) * cos(pi / 2 * (step - warmup) / (total - warmup)) ** 2
    return (step + 1) * (peak / warmup)
