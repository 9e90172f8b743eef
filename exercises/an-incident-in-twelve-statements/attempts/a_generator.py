import torch


def steps(w, b, batches, rate):
    w, b = torch.nn.Parameter(w.clone()), torch.nn.Parameter(b.clone())
    optimizer = torch.optim.SGD([w], lr=rate)
    for number, (x, y) in enumerate(batches, start=1):
        optimizer.add_param_group(dict(params=[b])) if number == 4 else None
        loss = torch.nn.functional.mse_loss(x @ w + b, y)
        loss.backward()
        optimizer.step()
        yield float(loss), w.data.clone(), b.data.clone()
        optimizer.zero_grad() if number % 3 == 0 else None


def train(w, b, batches, rate):
    return list(steps(w, b, batches, rate))
