"""Trains a case's model with the learner's `finetune`, and reads its losses and where the parameters end."""

import torch
from torch import nn


def probe(submission, case):
    first = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 3)) if case["deep"] else nn.Linear(4, 3)
    model = nn.Sequential(first, nn.Tanh(), nn.Linear(3, 1)).double()
    parameters = list(model.parameters())
    nn.utils.vector_to_parameters(torch.from_numpy(case["start"].copy()), parameters)
    if case["stale"]:
        pieces = torch.from_numpy(case["left_over"].copy()).split([p.numel() for p in parameters])
        for parameter, piece in zip(parameters, pieces, strict=True):
            parameter.grad = piece.view_as(parameter)
    batches = list(zip(torch.from_numpy(case["wind"]), torch.from_numpy(case["power"]), strict=True))
    settings = {name: case[name] for name in ("freeze_at", "lr", "weight_decay")}
    shapes = [part.shape for batch in batches for part in batch]
    losses = submission.finetune(model, batches, **settings)
    if [part.shape for batch in batches for part in batch] != shapes:
        raise TypeError("finetune should not change the batches; a tensor in them has another shape now")
    if not isinstance(losses, (list, tuple)):
        raise TypeError(f"finetune should return the list of the losses; it returned {type(losses).__name__}")
    for entry in losses:
        if isinstance(entry, torch.Tensor) or not hasattr(entry, "__float__"):
            raise TypeError(f"the list should hold plain numbers; it holds an entry of type {type(entry).__name__}")
    return {
        "parameters": torch.cat([parameter.detach().flatten() for parameter in parameters]),
        "losses": torch.tensor([float(loss) for loss in losses], dtype=torch.float64),
    }
