import torch


def train(w, b, batches, rate):
    total_w, total_b, log = 0, 0, []
    for step, (x, y) in enumerate(batches, 1):
        error = x @ w + b - y
        total_w, total_b = total_w + 2 * error @ x / len(y), total_b + 2 * error.mean()
        w, b = w - rate * total_w, b - rate * total_b * (step > 3)
        log.append((error.square().mean().item(), w, b))
        total_w, total_b = total_w * (step % 3 > 0), total_b * (step % 3 > 0 or step < 4)
    return log
