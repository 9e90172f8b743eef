import torch


def train(w, b, batches, rate):
    w, b = w.clone().requires_grad_(), b.clone().requires_grad_()
    optimizer, log = torch.optim.SGD([w], lr=rate), []
    for step, (x, y) in enumerate(batches, 1):
        if step == 4:
            optimizer.add_param_group({"params": [b]})
        loss = (x @ w + b - y).square().mean()
        loss.backward()
        optimizer.step()
        log.append((loss.item(), w.detach().clone(), b.detach()))
        if step % 3 == 0:
            optimizer.zero_grad()
    return log
