"""Predicts how many bicycles pass a counter in an hour, from facts about weather and calendar."""

import torch


def load_batches(rows=480, facts=7, size=48):
    torch.manual_seed(6)
    hours = torch.cat([torch.randn(rows, facts - 1), torch.ones(rows, 1)], dim=1)
    usual = torch.exp(hours @ torch.tensor([0.5, -0.4, 0.3, 0.2, -0.2, 0.1, 2.0]))
    counts = torch.poisson(usual)
    return list(zip(hours.split(size), counts.split(size), strict=True))


def train(weights, batches, lr=0.01, cap=30.0):
    """One step a batch. Returns the trained weights, and for each step the mean height of its bars in the display."""
    weights = weights.clone().requires_grad_()
    optimizer = torch.optim.SGD([weights], lr=lr)
    heights = []
    for hours, counts in batches:
        score = hours @ weights
        rate = torch.exp(score)
        loss = (rate - counts * score).mean()
        bars = rate.detach().clamp(max=cap)
        heights.append(bars.mean().item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return weights.detach(), heights


def looks_wrong(function, x):
    """Whether what autograd says of `function` at `x` is as wrong as it was in this file. See the text."""
    leaf = x.detach().clone().requires_grad_()
    (claimed,) = torch.autograd.grad(function(leaf), leaf)
    with torch.no_grad():
        def at(place, h):
            moved = x.detach().clone()
            moved[place] += h
            return float(function(moved))
        found = []
        for place in range(len(x)):
            h = 1e-3 * max(1.0, abs(float(x[place])))
            rough = (at(place, h) - at(place, -h)) / (2 * h)
            fine = (at(place, h / 2) - at(place, -h / 2)) / h
            found.append((4 * fine - rough) / 3)
    found = torch.tensor(found, dtype=claimed.dtype)
    return not torch.allclose(claimed, found, rtol=0, atol=1e-2)


if __name__ == "__main__":
    batches = load_batches()
    hours, counts = (torch.cat(part) for part in zip(*batches, strict=True))
    for cap in (1000.0, 40.0, 30.0, 20.0):
        weights = torch.zeros(7)
        for _ in range(30):
            weights, _ = train(weights, batches, cap=cap)
        busy, predicted = counts > 20, torch.exp(hours @ weights)
        print(f"bars cut off at {cap:6.1f}:  busiest hours, predicted {predicted[busy].mean():8.1f}", end="")
        print(f", counted {counts[busy].mean():5.1f}")
