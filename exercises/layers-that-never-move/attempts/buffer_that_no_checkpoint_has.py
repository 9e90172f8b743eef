"""Fills gaps in a river's level: from twelve gauges upstream to the one that failed."""

import torch
from torch import nn
from torch.nn import functional as F


class Network(nn.Module):
    """A stem, `depth` residual blocks, one scale a channel, and a head."""

    def __init__(self, gauges=12, width=16, depth=3):
        super().__init__()
        self.stem = nn.Linear(gauges, width)
        self.blocks = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.scale = nn.Parameter(torch.full((width,), 0.5))
        self.register_buffer("depth", torch.tensor(float(depth)))
        self.head = nn.Linear(width, 1)

    def forward(self, levels):
        hidden = self.stem(levels)
        for block in self.blocks:
            hidden = hidden + self.scale * torch.tanh(block(hidden))
        return self.head(hidden).squeeze(-1)


def train(network, batches, lr=0.05, momentum=0.9):
    """One epoch, in place."""
    optimizer = torch.optim.SGD(network.parameters(), lr=lr, momentum=momentum)
    for levels, missing in batches:
        loss = F.mse_loss(network(levels), missing)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def load_batches(rows=512, gauges=12, size=32):
    torch.manual_seed(7)
    levels = torch.randn(rows, gauges)
    missing = torch.tanh(2 * levels[:, 0] * levels[:, 1]) + 0.5 * levels[:, 2] + 0.1 * torch.randn(rows)
    return list(zip(levels.split(size), missing.split(size), strict=True))


if __name__ == "__main__":
    torch.manual_seed(1)
    network, batches = Network(), load_batches()
    layers = {"stem": network.stem.weight, "scale": network.scale, "head": network.head.weight}
    layers |= {f"blocks[{place}]": block.weight for place, block in enumerate(network.blocks)}
    start = {name: value.detach().clone() for name, value in layers.items()}
    for epoch in range(30):
        loss = train(network, batches)
        if epoch % 10 == 9:
            moved = "  ".join(f"{name} {(layers[name] - start[name]).norm():.2f}" for name in layers)
            print(f"epoch {epoch + 1}  loss {loss:.3f}  moved: {moved}")
