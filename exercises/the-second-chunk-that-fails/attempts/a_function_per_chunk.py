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
    def train_chunk(hours, answers, state):
        parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        loss = 0.0
        for hour, answer in zip(hours, answers):
            prediction, state = model(hour, state)
            loss = loss + F.mse_loss(prediction, answer) / len(hours)
        gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
        with torch.no_grad():
            for parameter, gradient in zip(parameters, gradients):
                if gradient is not None:
                    parameter -= lr * gradient
        return float(loss), tuple(map(torch.detach, state))

    state, losses = model.start(readings.shape[1]), []
    for hours, answers in zip(readings.split(chunk), targets.split(chunk)):
        loss, state = train_chunk(hours, answers, state)
        losses.append(loss)
    return losses, state


if __name__ == "__main__":
    torch.manual_seed(32)
    losses, state = train(Model(), *load_record(), chunk=12)
    print("  ".join(f"{loss:.3f}" for loss in losses))
