"""Adapts a model of bird calls to a new reserve: a new head names the birds that live there."""

import torch
from torch import nn
from torch.nn import functional as F


class Model(nn.Module):
    def __init__(self, body, head):
        super().__init__()
        self.body, self.head = body, head

    def forward(self, calls):
        return self.head(self.body(calls))


def load_batches(count=60, rows=32, features=8):
    torch.manual_seed(21)
    batches = []
    for _ in range(count):
        calls = torch.randn(rows, features)
        batches.append((calls, (calls[:, 0] > 0).long() + 2 * (calls[:, 1] > calls[:, 2]).long()))
    return batches


def adapt(model, head, batches, lr=0.02, momentum=0.9, weight_decay=0.0):
    model.head = head
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=momentum, weight_decay=weight_decay)
    losses = []
    for calls, birds in batches:
        birds.unsqueeze_(-1)
        loss = F.cross_entropy(model(calls), birds[:, 0])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    torch.manual_seed(22)
    body = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh())
    model, head = Model(body, nn.Linear(16, 6)), nn.Linear(16, 4)
    starts = {"body": body[0].weight.detach().clone(), "head": head.weight.detach().clone()}
    losses = adapt(model, head, load_batches())
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}")
    for name, weight in {"body": body[0].weight, "head": head.weight}.items():
        moved = (weight - starts[name]).norm()
        print(f"{name}: requires_grad {weight.requires_grad}, gradient {weight.grad.norm():.3f}, moved {moved:.3f}")
