"""def train(w, b, batches, rate):
    w = w.clone().requires_grad_()
    b = b.clone().requires_grad_()
    optimizer = torch.optim.SGD([w], lr=rate)
    log = []
    step = 0
    for x, y in batches:
        step = step + 1
        if step == 4:
            optimizer.add_param_group({"params": [b]})
        loss = (x @ w + b - y).square().mean()
        loss.backward()
        optimizer.step()
        log.append((loss.item(), w.detach().clone(), b.detach().clone()))
        if step % 3 == 0:
            optimizer.zero_grad()
    return log
"""

import torch

exec(__doc__)
