"""Estimates the yield of a field from ten soil measures, with a penalty that is to keep the weights small."""

import torch
from torch import nn
from torch.nn import functional as F


def load_batches(rows=96, measures=10, size=24):
    torch.manual_seed(4)
    soil = torch.randn(rows, measures)
    harvest = soil[:, 0] - 0.5 * soil[:, 1] + 0.8 * torch.randn(rows)
    return list(zip(soil.split(size), harvest.split(size), strict=True))


def build_model(measures=10, hidden=32):
    torch.manual_seed(9)
    return nn.Sequential(nn.Linear(measures, hidden), nn.Tanh(), nn.Linear(hidden, 1))


def penalty(model):
    """The sum of the squares of all weights; biases go free."""
    total = 0.0
    for name, parameter in model.named_parameters():
        if name.endswith(".weight"):
            total += parameter.pow(2).sum()
    return total


def loss_fn(model, soil, harvest, strength):
    """How badly the model fits, plus `strength` times the penalty."""
    fit = F.mse_loss(model(soil).squeeze(-1), harvest)
    return fit + strength * penalty(model)


def train(model, batches, lr=0.1, strength=0.0, epochs=1):
    """Trains in place, one step a batch. Returns the log: the penalty after each epoch, as plain numbers."""
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    log = []
    for _ in range(epochs):
        for soil, harvest in batches:
            loss = loss_fn(model, soil, harvest, strength)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        log.append(float(penalty(model)))
    return log


if __name__ == "__main__":
    for strength in (0.0, 0.001, 0.01, 0.1):
        model, batches = build_model(), load_batches()
        log = train(model, batches, strength=strength, epochs=60)
        loss = sum(loss_fn(model, *batch, strength) for batch in batches) / len(batches)
        print(f"strength {strength:<6} loss {loss:6.3f}  penalty after 1, 20, 40, 60 epochs:", end="")
        print("".join(f"{log[epoch - 1]:7.2f}" for epoch in (1, 20, 40, 60)))
