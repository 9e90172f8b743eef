"""Calibrates a scale of three load cells: gradient descent on the mean squared error, written by hand."""

import torch


def load_readings(count=60):
    torch.manual_seed(6)
    readings = torch.randn(count, 3)
    targets = readings @ torch.tensor([1.5, -0.7, 0.4]) + 2.0 + 0.05 * torch.randn(count)
    return readings, targets


def fit(weights, offset, readings, targets, lr=0.1, steps=40):
    """Moves `weights` and `offset` in place. Returns the losses, each from before its step."""
    log = []
    weights = weights.detach().clone().requires_grad_()
    offset = offset.detach().clone().requires_grad_()
    for _ in range(steps):
        weights.grad = None
        offset.grad = None
        loss = (readings @ weights + offset - targets).square().mean()
        loss.backward()
        with torch.no_grad():
            weights -= lr * weights.grad
            offset -= lr * offset.grad
        log.append(loss.item())
    return log


if __name__ == "__main__":
    weights, offset = torch.zeros(3, requires_grad=True), torch.zeros((), requires_grad=True)
    for steps in (1, 1, 40):
        log = fit(weights, offset, *load_readings(), steps=steps)
        print(f"{steps:>2} steps: loss {log[-1]:.4f}, weights", [round(weight, 3) for weight in weights.tolist()])
