"""Adapts a case's model with the learner's `adapt`, and reads where the body and both heads end."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, body, head):
        super().__init__()
        self.body, self.head = body, head

    def forward(self, calls):
        return self.head(self.body(calls))


def probe(submission, case):
    body, old, new = build(case)
    of_old = list(old.parameters())
    parts = [*body.parameters(), *of_old, *new.parameters()]
    nn.utils.vector_to_parameters(torch.from_numpy(case["start"].copy()), parts)
    if case["stale"]:
        pieces = torch.from_numpy(case["left_over"].copy()).split([p.numel() for p in parts])
        for parameter, piece in zip(parts, pieces, strict=True):
            parameter.grad = piece.view_as(parameter)
    body[0].requires_grad_(not case["frozen"])
    model = Model(body, old)
    batches = list(zip(torch.from_numpy(case["calls"]), torch.from_numpy(case["birds"]), strict=True))
    settings = {name: case[name] for name in ("lr", "momentum", "weight_decay")}
    shapes = [part.shape for batch in batches for part in batch]
    losses = read_losses(submission.adapt(model, new, batches, **settings))
    if [part.shape for batch in batches for part in batch] != shapes:
        raise TypeError("adapt should not change the batches; a tensor in them has another shape now")
    return {
        "installed": model.head is new and model.body is body,
        "body": flatten(body.parameters()),
        "new head": flatten(new.parameters()),
        "old head": flatten(of_old),
        "losses": losses,
    }


def build(case):
    _, _, features = case["calls"].shape
    hidden, species = case["hidden"], case["species"]
    body = nn.Sequential(nn.Linear(features, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
    deep = nn.Sequential(nn.Linear(hidden, 2), nn.Tanh(), nn.Linear(2, species))
    new = deep if case["deep"] else nn.Linear(hidden, species)
    return body.double(), nn.Linear(hidden, case["old_species"]).double(), new.double()


def read_losses(losses):
    if not isinstance(losses, (list, tuple)):
        raise TypeError(f"adapt should return the list of the losses; it returned {type(losses).__name__}")
    for entry in losses:
        if isinstance(entry, torch.Tensor) or not hasattr(entry, "__float__"):
            raise TypeError(f"the list should hold plain numbers; it holds an entry of type {type(entry).__name__}")
    return torch.tensor([float(loss) for loss in losses], dtype=torch.float64)


def flatten(parameters):
    return torch.cat([parameter.detach().flatten() for parameter in parameters])
