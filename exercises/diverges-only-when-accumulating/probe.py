"""Trains a case's model with the learner's `train`, and reads its log and where the parameters end."""

from numbers import Real

import torch
from torch import nn


def probe(submission, case):
    features = case["sound"].shape[2]
    model = nn.Sequential(nn.Linear(features, case["hidden"]), nn.Tanh(), nn.Linear(case["hidden"], 1)).double()
    nn.utils.vector_to_parameters(torch.from_numpy(case["start"].copy()), model.parameters())
    if "left_over" in case:
        left = torch.from_numpy(case["left_over"]).split([p.numel() for p in model.parameters()])
        for parameter, piece in zip(model.parameters(), left, strict=True):
            parameter.grad = piece.view_as(parameter).clone()
    parts = list(zip(torch.from_numpy(case["sound"]), torch.from_numpy(case["power"]), strict=True))
    settings = {name: case[name] for name in ("lr", "momentum", "weight_decay", "accumulate")}
    given = list(parts)
    log = submission.train(model, parts, **settings)
    if not isinstance(log, (list, tuple)):
        raise TypeError(f"train should return the list of the steps' losses; it returned {type(log).__name__}")
    if strange := [type(loss).__name__ for loss in log if not isinstance(loss, Real)]:
        raise TypeError(f"the log should hold plain numbers; it holds a {strange[0]}")
    same = len(parts) == len(given) and all(one is other for one, other in zip(parts, given, strict=True))
    return {
        "parameters": nn.utils.parameters_to_vector(model.parameters()),
        "log": torch.tensor([float(loss) for loss in log], dtype=torch.float64),
        "parts as they were": same,
    }
