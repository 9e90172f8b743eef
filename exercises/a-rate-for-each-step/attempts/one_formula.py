import numpy as np


def lr_at(step, total, warmup, peak, floor):
    rise = min(step + 1, warmup) / max(warmup, 1)
    fraction = np.clip((step - warmup) / max(total - warmup, 1), 0, 1) if step < total else 1.0
    share = (1 + np.cos(np.pi * fraction)) / 2
    return peak * rise if step < warmup else (1 - share) * floor + share * peak
