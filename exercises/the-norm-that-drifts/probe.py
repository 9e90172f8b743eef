"""Trains a case's model with the learner's `train`, or shows the learner's `looks_wrong` a case's programs.

The programs are with host.py, out of the learner's reach: here is only the model that they train.
"""

import numpy as np
import torch
from torch import nn


def probe(submission, case):
    if "programs" in case:
        programs = enumerate(case["programs"])
        return {"wrong": [show(submission.looks_wrong, Program(case["ask"], *each)) for each in programs]}
    model = load_model(case)
    batches = list(zip(torch.from_numpy(case["readings"]), torch.from_numpy(case["temperature"]), strict=True))
    if "left_over" in case:
        for parameter, left in zip(model.parameters(), split(model, case["left_over"]), strict=True):
            parameter.grad = left.clone()
    submission.train(model, batches, lr=case["lr"], momentum=case["momentum"], epochs=case["epochs"])
    return {"parameters": nn.utils.parameters_to_vector(model.parameters())}


def load_model(case):
    sensors = case["readings"].shape[2]
    model = nn.Sequential(nn.Linear(sensors, case["hidden"]), nn.Tanh(), nn.Linear(case["hidden"], 1)).double()
    nn.utils.vector_to_parameters(torch.from_numpy(case["start"].copy()), model.parameters())
    return model


def split(model, vector):
    sizes = [parameter.numel() for parameter in model.parameters()]
    pieces = torch.from_numpy(vector).split(sizes)
    return [piece.view_as(p) for piece, p in zip(pieces, model.parameters(), strict=True)]


def show(looks_wrong, program):
    said = looks_wrong(program.build)
    if isinstance(said, torch.Tensor) and said.dtype == torch.bool and said.numel() == 1:
        said = said.item()
    if not isinstance(said, (bool, np.bool_)):
        raise TypeError(f"looks_wrong should return True or False; it returned {said!r}")
    return bool(said)


class Program:
    """A program by its number. Whoever asks says in what state the model is, and is told in what state it is then."""

    def __init__(self, ask, number, sizes):
        self.ask, self.number, self.sizes = ask, number, sizes

    def build(self):
        """A model, and a function that has it trained by one step."""
        model = make_model(*self.sizes)
        run, *start = self.ask([self.number])
        put_state(model, torch.tensor(start, dtype=torch.float64))

        def step():
            loss, *state = self.ask([run, *take_state(model).tolist()])
            put_state(model, torch.tensor(state, dtype=torch.float64))
            return loss

        return model, step


def make_model(inputs, hidden):
    return nn.Sequential(nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, 1)).double()


def take_state(model):
    """For each parameter: its values, whether it has a gradient, and the gradient."""
    pieces = []
    for p in model.parameters():
        gradient = torch.zeros_like(p) if p.grad is None else p.grad
        pieces += [p.detach().flatten(), torch.tensor([float(p.grad is not None)]), gradient.flatten()]
    return torch.cat([piece.double() for piece in pieces])


def put_state(model, state):
    for p in model.parameters():
        values, has_gradient, gradient, state = state.split([p.numel(), 1, p.numel(), len(state) - 2 * p.numel() - 1])
        p.data.copy_(values.view_as(p))
        if not has_gradient:
            p.grad = None
        elif p.grad is None:
            p.grad = gradient.view_as(p).clone()
        else:
            p.grad.copy_(gradient.view_as(p))
