"""Trains a case's model with the learner's `train`, and reads its log and where the parameters end."""

import torch
from torch import nn


def probe(submission, case):
    model = make_model(case)
    batches = list(zip(torch.from_numpy(case["rain"]), torch.from_numpy(case["inflow"]), strict=True))
    shapes = [part.shape for batch in batches for part in batch]
    log = submission.train(model, batches, lr=case["lr"], max_norm=case["max_norm"])
    if [part.shape for batch in batches for part in batch] != shapes:
        raise TypeError("train should not change the batches; a tensor in them has another shape now")
    if isinstance(log, torch.Tensor) and log.dim() == 1:
        log = list(log)
    if not isinstance(log, (list, tuple)):
        raise TypeError(f"train should return the list of the steps' norms; it returned {type(log).__name__}")
    layers = (model[0], model[2])
    return {
        "parameters": torch.cat([p.detach().flatten() for layer in layers for p in (layer.weight, layer.bias)]),
        "log": torch.tensor([read(entry) for entry in log], dtype=torch.float64),
    }


def read(entry):
    if (isinstance(entry, torch.Tensor) and entry.numel() != 1) or not hasattr(entry, "__float__"):
        raise TypeError(f"the log should hold one number per step; it holds an entry of type {type(entry).__name__}")
    return float(entry)


def make_model(case):
    model = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 1)).double()
    nn.utils.vector_to_parameters(torch.from_numpy(case["start"].copy()), model.parameters())
    if case["kind"] in ("frozen", "frozen, used"):
        model[0].requires_grad_(False)
    if case["kind"] == "unused":
        model.register_parameter("spare", nn.Parameter(torch.ones(3, dtype=torch.float64)))
    if case["kind"] in ("used", "frozen, used"):
        pieces = torch.from_numpy(case["left_over"].copy()).split([p.numel() for p in model.parameters()])
        for parameter, piece in zip(model.parameters(), pieces, strict=True):
            parameter.grad = piece.view_as(parameter)
    return model
