"""Asks the learner's loss for its value and gradients, or trains a case's model with the learner's `train`."""

import torch
from torch import nn


def probe(submission, case):
    sizes = case["sizes"]
    layers = [nn.Linear(sizes[0], sizes[1]), nn.Tanh(), nn.Linear(sizes[1], sizes[2])]
    model = nn.Sequential(*layers, nn.Tanh(), nn.Linear(sizes[2], 1)).double()
    nn.utils.vector_to_parameters(torch.from_numpy(case["start"].copy()), model.parameters())
    batches = list(zip(torch.from_numpy(case["soil"]), torch.from_numpy(case["harvest"]), strict=True))
    if case["ask"] == "loss":
        return ask_loss(submission, model, batches[0], case["strength"])
    log = submission.train(model, batches, lr=case["lr"], strength=case["strength"], epochs=case["epochs"])
    return {"parameters": nn.utils.parameters_to_vector(model.parameters()), "log": [read(entry) for entry in log]}


def ask_loss(submission, model, batch, strength):
    loss = submission.loss_fn(model, *batch, strength)
    loss.backward()
    gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in model.parameters()]
    return {"loss": loss.item(), "gradients": torch.cat([gradient.flatten() for gradient in gradients])}


def read(entry):
    if not isinstance(entry, (int, float)):
        kind = type(entry).__name__
        raise TypeError(f"the log should hold plain numbers; it holds a {kind}, and whatever graph hangs on it")
    return float(entry)
