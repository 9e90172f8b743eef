import torch


def train(w, b, batches, rate):
    model = torch.nn.Linear(len(w), 1, dtype=torch.float64)
    model.weight.data, model.bias.data = w.clone()[None], b.clone()[None]
    slow, late, log = (torch.optim.SGD([p], lr=rate) for p in (model.weight, model.bias)), None, []
    slow, late = slow
    for i, (x, y) in enumerate(batches):
        loss = ((model(x)[:, 0] - y) ** 2).mean()
        loss.backward()
        [optimizer.step() for optimizer in ([slow] if i < 3 else [slow, late])]
        log += [(loss.item(), model.weight.data[0].clone(), model.bias.data[0].clone())]
        [optimizer.zero_grad() for optimizer in ([slow] if i < 3 else [slow, late]) if i % 3 == 2]
    return log
