"""Adapts a model of a wind farm to a new site: all layers first, then the last ones alone."""

import torch
from torch import nn
from torch.nn import functional as F


def load_batches(count=120, rows=32, sensors=6):
    torch.manual_seed(11)
    batches = []
    for _ in range(count):
        wind = torch.randn(rows, sensors)
        batches.append((wind, torch.tanh(wind[:, 0] + wind[:, 1]) + 0.5 * wind[:, 2]))
    return batches


def build_model(sensors=6, hidden=16):
    torch.manual_seed(12)
    return nn.Sequential(nn.Linear(sensors, hidden), nn.Tanh(), nn.Linear(hidden, 1))


def finetune(model, batches, freeze_at, lr=0.01, weight_decay=0.1):
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=weight_decay)
    losses = []
    for step, (wind, power) in enumerate(batches):
        if step == freeze_at:
            model[0].requires_grad_(False)
        optimizer.zero_grad()
        power.unsqueeze_(-1)
        loss = F.mse_loss(model(wind), power)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    batches = load_batches()
    for steps in (40, 50, 60, 80, 120):
        model = build_model()
        finetune(model, batches[:steps], freeze_at=40)
        print(f"norm of the first weight after {steps:>3} steps: {model[0].weight.norm():.4f}")
