import torch


def train(w, b, batches, rate):
    loss = lambda w, b, x, y: (x @ w + b - y).pow(2).mean()
    held, log = [torch.zeros_like(w), torch.zeros_like(b)], []
    for i in range(len(batches)):
        (gw, gb), value = torch.func.grad_and_value(loss, (0, 1))(w, b, *batches[i])
        held = [held[0] * (i % 3 != 0) + gw, held[1] * (i % 3 != 0 or i == 3) + gb]
        w, b = torch.sub(w, held[0], alpha=rate), torch.sub(b, held[1], alpha=rate if i >= 3 else 0)
        log.append((value.item(), w, b))
    return log
