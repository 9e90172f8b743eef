"""Predicts the temperature of a turbine's bearing from eight sensors."""

import torch
from torch import nn
from torch.nn import functional as F

STEPS = 12


def load_batches(rows=256, sensors=8, size=32):
    torch.manual_seed(11)
    readings = torch.randn(rows, sensors)
    temperature = torch.sin(readings[:, 0]) + 0.5 * readings[:, 1] + 0.3 * torch.randn(rows)
    return list(zip(readings.split(size), temperature.split(size), strict=True))


def build_model(sensors=8, hidden=16):
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(sensors, hidden), nn.Tanh(), nn.Linear(hidden, 1))


def weight_norm(model):
    return torch.stack([p.detach().norm() for p in model.parameters()]).norm().item()


def train(model, batches, lr=0.01, momentum=0.0, epochs=16):
    """Trains `model` in place, one step a batch."""
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=momentum)
    for epoch in range(epochs):
        total = 0.0
        for readings, temperature in batches:
            predicted = model(readings).squeeze(-1)
            loss = F.mse_loss(predicted, temperature)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch:2}  loss {total / len(batches):7.3f}  norm of the weights {weight_norm(model):6.2f}")


def looks_wrong(make):
    (model, step), (helped, helped_step) = make(), make()
    for _ in range(8):
        step()
        helped_step()
        if not torch.equal(next(model.parameters()), next(helped.parameters())):
            return True
        for parameter in helped.parameters():
            parameter.grad = None
    return False


if __name__ == "__main__":
    train(build_model(), load_batches())
