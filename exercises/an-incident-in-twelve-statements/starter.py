import torch


def train(w, b, batches, rate):
    w, b = w.clone().requires_grad_(), b.clone().requires_grad_()
    optimizer, log = torch.optim.SGD([w, b], lr=rate), []
    for x, y in batches:  # a healthy run
        optimizer.zero_grad()
        loss = (x @ w + b - y).square().mean()
        loss.backward()
        optimizer.step()
        log.append((loss.item(), w.detach().clone(), b.detach().clone()))
    return log
