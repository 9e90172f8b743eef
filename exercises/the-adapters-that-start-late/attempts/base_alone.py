"""Adapts a model of pump vibrations to a new pump: the trained layers stay, and small adapters learn."""

import torch
from torch import nn
from torch.nn import functional as F


class LoRALinear(nn.Module):
    """A frozen linear layer, plus a trainable product of two thin matrices."""

    def __init__(self, base, rank=2, alpha=4.0):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(rank, base.in_features) / base.in_features**0.5)
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x)


def build_model(features=6, hidden=16, depth=4):
    torch.manual_seed(51)
    sizes = [features, *[hidden] * (depth - 1), 1]
    layers = []
    for layer in range(depth):
        layers += [LoRALinear(nn.Linear(sizes[layer], sizes[layer + 1])), nn.Tanh()]
    return nn.Sequential(*layers[:-1])


def load_batches(count=200, rows=64, features=6):
    torch.manual_seed(52)
    batches = []
    for _ in range(count):
        signals = torch.randn(rows, features)
        batches.append((signals, torch.sin(2 * signals[:, :1]) + 0.5 * signals[:, 1:2]))
    return batches


def adapt(model, batches, lr=0.1, show=()):
    """One step of SGD per batch, for what requires a gradient. Returns the last loss."""
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=lr)
    for step, (signals, answers) in enumerate(batches, 1):
        loss = F.mse_loss(model(signals), answers)
        optimizer.zero_grad()
        loss.backward()
        if step in show:
            norms = [layer.up.grad.norm() for layer in model if isinstance(layer, LoRALinear)]
            print(f"step {step:3}  gradients of up, lowest layer first: " + "  ".join(f"{n:.4f}" for n in norms))
        optimizer.step()
    return loss.item()


if __name__ == "__main__":
    loss = adapt(build_model(), load_batches(), show=(1, 2, 10))
    print(f"loss after 200 steps: {loss:.3f}")
