"""Predicts the load of a power grid from a long record, a chunk of hours at a time."""

import torch
from torch import nn
from torch.nn import functional as F


class Model(nn.Module):
    def __init__(self, features=3, hidden=16):
        super().__init__()
        self.cell, self.head = nn.RNNCell(features, hidden), nn.Linear(hidden, 1)
        self.first = nn.Parameter(torch.zeros(hidden))

    def start(self, rows):
        """The state before the first hour, a tuple of tensors."""
        return (self.first.expand(rows, -1),)

    def forward(self, reading, state):
        hidden = self.cell(reading, state[0])
        return self.head(hidden).squeeze(-1), (hidden,)


def load_record(hours=240, rows=8, features=3):
    torch.manual_seed(31)
    readings = torch.randn(hours, rows, features)
    return readings, torch.tanh(readings[:, :, 0] + readings.roll(1, 0)[:, :, 1])


def train(model, readings, targets, chunk, lr=0.1):
    """One step of SGD per chunk. Returns the losses, and the state after the last hour."""
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    state = model.start(readings.shape[1])
    losses = []
    for first in range(0, len(readings), chunk):
        errors = []
        for hour in range(first, min(first + chunk, len(readings))):
            prediction, state = model(readings[hour], state)
            errors.append(F.mse_loss(prediction, targets[hour]))
        loss = torch.stack(errors).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        state = (state[0].detach(), *state[1:])
    return losses, state


if __name__ == "__main__":
    torch.manual_seed(32)
    losses, state = train(Model(), *load_record(), chunk=12)
    print("  ".join(f"{loss:.3f}" for loss in losses))
