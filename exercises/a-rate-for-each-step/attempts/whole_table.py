from functools import lru_cache

import numpy as np


@lru_cache
def build_table(total, warmup, peak, floor):
    rise = np.linspace(0.0, peak, warmup + 1)[1:]
    turn = np.cos(np.linspace(0.0, np.pi, total - warmup, endpoint=False))
    return np.concatenate([rise, (peak + floor) / 2 + (peak - floor) / 2 * turn, [floor]])


def lr_at(step, total, warmup, peak, floor):
    return build_table(total, warmup, peak, floor)[min(step, total)]
