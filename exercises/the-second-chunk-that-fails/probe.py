"""Trains a case's recurrent model with the learner's `train`, and reads parameters, losses and the last state."""

import torch
from torch import nn

FEATURES, HIDDEN = 2, 3


class Model(nn.Module):
    def __init__(self, kind, learned):
        super().__init__()
        self.cell = nn.LSTMCell(FEATURES, HIDDEN) if kind == "lstm" else nn.RNNCell(FEATURES, HIDDEN)
        self.head = nn.Linear(HIDDEN, 1)
        self.is_lstm = kind == "lstm"
        first = torch.zeros(2 if self.is_lstm else 1, HIDDEN)
        if learned:
            self.first = nn.Parameter(first)
        else:
            self.register_buffer("first", first)

    def start(self, rows):
        return tuple(part.expand(rows, -1) for part in self.first)

    def forward(self, reading, state):
        new = self.cell(reading, state) if self.is_lstm else (self.cell(reading, state[0]),)
        return self.head(new[0]).squeeze(-1), new


def probe(submission, case):
    model = Model(case["kind"], case["learned"]).double()
    parameters = list(model.parameters())
    nn.utils.vector_to_parameters(torch.from_numpy(case["start"].copy()), parameters)
    if case["stale"]:
        pieces = torch.from_numpy(case["left_over"].copy()).split([p.numel() for p in parameters])
        for parameter, piece in zip(parameters, pieces, strict=True):
            parameter.grad = piece.view_as(parameter)
    readings, targets = torch.from_numpy(case["readings"]), torch.from_numpy(case["targets"])
    losses, state = read_result(submission.train(model, readings, targets, chunk=case["chunk"], lr=case["lr"]))
    return {
        "parameters": torch.cat([parameter.detach().flatten() for parameter in parameters]),
        "losses": torch.tensor(losses, dtype=torch.float64),
        "state": torch.cat([part.detach().flatten() for part in state]),
        "attached": any(part.requires_grad for part in state),
    }


def read_result(result):
    if not isinstance(result, (list, tuple)) or len(result) != 2:
        raise TypeError(f"train should return the losses and the state; it returned {type(result).__name__}")
    losses, state = result
    if not isinstance(losses, (list, tuple)):
        raise TypeError(f"the losses should be a list; they are of type {type(losses).__name__}")
    for entry in losses:
        if isinstance(entry, torch.Tensor) or not hasattr(entry, "__float__"):
            raise TypeError(f"the list should hold plain numbers; it holds an entry of type {type(entry).__name__}")
    kinds = {type(part) for part in state} if isinstance(state, (list, tuple)) else {type(state)}
    if kinds - {torch.Tensor}:
        raise TypeError(
            "the state should be a tuple of tensors, as the model gives it; the check found "
            + " and ".join(sorted(kind.__name__ for kind in kinds - {torch.Tensor}))
        )
    return [float(loss) for loss in losses], state
