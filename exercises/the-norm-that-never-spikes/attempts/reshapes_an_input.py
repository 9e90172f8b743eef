"""Forecasts a dam's inflow from six rain gauges, with clipped gradients and a log of their norms."""

import torch
from torch import nn
from torch.nn import functional as F


def load_batches(rows=320, gauges=6, size=16):
    torch.manual_seed(3)
    rain = torch.randn(rows, gauges)
    inflow = rain[:, :3].sum(dim=1) + 0.2 * torch.randn(rows)
    inflow[176:192] *= 40.0  # one evening, a gauge reported in other units
    return list(zip(rain.split(size), inflow.split(size), strict=True))


def build_model(gauges=6, hidden=16):
    torch.manual_seed(8)
    return nn.Sequential(nn.Linear(gauges, hidden), nn.Tanh(), nn.Linear(hidden, 1))


def measure_norm(model):
    """The length of the gradient, as one vector of all parameters' gradients."""
    norms = [parameter.grad.norm() for parameter in model.parameters() if parameter.grad is not None]
    return torch.stack(norms).norm().item()


def train(model, batches, lr=0.05, max_norm=1.0):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    log = []
    for rain, inflow in batches:
        loss = F.mse_loss(model(rain), inflow.unsqueeze_(-1))
        optimizer.zero_grad()
        loss.backward()
        log.append(nn.utils.clip_grad_norm_(model.parameters(), max_norm))
        optimizer.step()
    return torch.stack(log)


if __name__ == "__main__":
    model, batches = build_model(), load_batches()
    for epoch in (1, 2):
        print(f"epoch {epoch}:", " ".join(f"{norm:.2f}" for norm in train(model, batches)))
