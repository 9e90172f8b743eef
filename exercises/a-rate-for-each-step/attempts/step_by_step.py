import math


def lr_at(step, total, warmup, peak, floor):
    rate, length = peak, total - warmup
    if step < warmup:
        return sum(peak / warmup for _ in range(step + 1))
    for number in range(1, min(step, total) - warmup + 1):
        before, now = (1 + math.cos(math.pi * n / length) for n in (number - 1, number))
        rate = (rate - floor) * now / before + floor
    return rate if step < total else floor
