"""Lays stations out on a map, so that their distances match measured travel times."""

import torch


def load_times(stations=12):
    """(stations, stations): minutes from each to each, 0 from a station to itself."""
    torch.manual_seed(8)
    true_places = 10 * torch.rand(stations, 2)
    times = torch.cdist(true_places, true_places)
    return times + 0.2 * torch.rand(stations, stations).triu(1)


def safe_sqrt(squares):
    """The square root of what is positive, and 0 of what is 0."""
    zero = squares == 0
    if squares.requires_grad:
        squares.register_hook(lambda grad: torch.where(zero, 0.0, grad))
    return squares.sqrt()


def distances(places):
    """(stations, stations): from each of the places, (stations, 2), to each."""
    apart = places.unsqueeze(1) - places.unsqueeze(0)
    return safe_sqrt(apart.pow(2).sum(dim=-1))


def train(places, times, lr=5.0, steps=6):
    """Moves a copy of the places step by step. Returns where they end, and the losses on the way."""
    places = places.clone().requires_grad_()
    optimizer = torch.optim.SGD([places], lr=lr)
    losses = []
    for _ in range(steps):
        loss = (distances(places) - times).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return places.detach(), losses


if __name__ == "__main__":
    torch.manual_seed(0)
    times, start = load_times(), 10 * torch.rand(12, 2)
    found = distances(start)
    print(f"distances from {found.min():.2f} to {found.max():.2f}, all finite: {found.isfinite().all().item()}")
    places, losses = train(start, times)
    print("losses:", "  ".join(f"{loss:.3f}" for loss in losses))
    print("first station:", places[0])
