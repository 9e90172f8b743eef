import torch

exec('def train(w, b, batches, rate):\n    w = w.clone().requires_grad_()\n    b = b.clone().requires_grad_()\n    optimizer = torch.optim.SGD([w], lr=rate)\n    log = []\n    step = 0\n    for x, y in batches:\n        step = step + 1\n        if step == 4:\n            optimizer.add_param_group({"params": [b]})\n        loss = (x @ w + b - y).square().mean()\n        loss.backward()\n        optimizer.step()\n        log.append((loss.item(), w.detach().clone(), b.detach().clone()))\n        if step % 3 == 0:\n            optimizer.zero_grad()\n    return log\n')
