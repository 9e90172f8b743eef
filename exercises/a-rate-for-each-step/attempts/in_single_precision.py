import numpy as np
def lr_at(step, total, warmup, peak, floor):
    f = np.float32
    if step < warmup: return float(f(peak) * f(step + 1) / f(warmup))
    if step >= total: return floor
    t = f(step - warmup) / f(total - warmup)
    return float(f(floor) + f(peak - floor) * f(0.5) * (f(1) + np.cos(f(np.pi) * t)))
