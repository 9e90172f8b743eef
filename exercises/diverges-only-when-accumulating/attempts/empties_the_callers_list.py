"""Predicts how much power a pump will draw from twelve features of its sound."""

import torch
from torch import nn
from torch.nn import functional as F


def load_parts(rows=640, features=12, size=16):
    """The data in parts that are small enough for the memory of the machine."""
    torch.manual_seed(5)
    sound = torch.randn(rows, features)
    power = torch.tanh(sound[:, :4].sum(dim=1)) + sound[:, 4] + 0.3 * torch.randn(rows)
    return list(zip(sound.split(size), power.split(size), strict=True))


def build_model(features=12, hidden=24):
    torch.manual_seed(2)
    return nn.Sequential(nn.Linear(features, hidden), nn.ReLU(), nn.Linear(hidden, 1))


def train(model, parts, lr=0.1, momentum=0.5, weight_decay=1e-3, accumulate=1):
    """One epoch in place: a step for every `accumulate` parts, and one for those that are left. Returns the log."""
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=momentum, weight_decay=weight_decay)
    log = []
    while parts:
        group = [parts.pop(0) for _ in range(min(accumulate, len(parts)))]
        optimizer.zero_grad()
        losses = [F.mse_loss(model(sound).squeeze(-1), power) for sound, power in group]
        loss = sum(losses) / len(losses)
        loss.backward()
        optimizer.step()
        log.append(loss.item())
    return log


if __name__ == "__main__":
    for accumulate in (1, 2, 4, 8):
        model = build_model()
        epochs = [train(model, load_parts(), accumulate=accumulate) for _ in range(6)]
        print(f"{accumulate} parts a step:", "  ".join(f"{sum(log) / len(log):9.3f}" for log in epochs))
