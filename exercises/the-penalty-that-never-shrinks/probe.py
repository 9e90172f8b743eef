"""Asks the learner's loss for its value and gradients, or trains a case's model with the learner's `train`."""

import torch
from torch import nn


def probe(submission, case):
    model = make_model(case["model"], case["sizes"])
    nn.utils.vector_to_parameters(torch.from_numpy(case["start"].copy()), model.parameters())
    batches = list(zip(torch.from_numpy(case["soil"]), torch.from_numpy(case["harvest"]), strict=True))
    data = [tensor.clone() for batch in batches for tensor in batch]
    if case["ask"] == "loss":
        answer = ask_loss(submission, model, batches, case["strength"])
    else:
        log = submission.train(model, batches, lr=case["lr"], strength=case["strength"], epochs=case["epochs"])
        answer = {"parameters": nn.utils.parameters_to_vector(model.parameters()), "log": read_log(log)}
    after = [tensor for batch in batches for tensor in batch]
    unchanged = all(torch.equal(now, was) for now, was in zip(after, data, strict=True))
    return answer | {"data unchanged": unchanged}


def ask_loss(submission, model, batches, strength):
    """The losses of all batches, added up before the one backward pass."""
    losses = [submission.loss_fn(model, *batch, strength) for batch in batches]
    if strange := [type(loss).__name__ for loss in losses if not isinstance(loss, torch.Tensor)]:
        raise TypeError(f"loss_fn should return a tensor; it returned a value of type {strange[0]}")
    loss = sum(losses)
    loss.backward()
    gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in model.parameters()]
    return {"loss": loss.item(), "gradients": torch.cat([gradient.flatten() for gradient in gradients])}


def read_log(log):
    if not isinstance(log, (list, tuple)):
        raise TypeError(f"train should return the log as a list; it returned a value of type {type(log).__name__}")
    return [read(entry) for entry in log] or [0.0]


def read(entry):
    if not isinstance(entry, (int, float)):
        kind = type(entry).__name__
        graph = ", and the graph behind it" if getattr(entry, "requires_grad", False) else ""
        raise TypeError(f"the log should hold plain numbers; it holds a {kind}{graph}")
    return float(entry)


def make_model(kind, sizes):
    if kind == "mixed":
        return Mixed(sizes).double()
    layers = [nn.Linear(sizes[0], sizes[1]), nn.Tanh(), nn.Linear(sizes[1], sizes[2]), nn.Tanh()]
    return nn.Sequential(*layers, nn.Linear(sizes[2], 1)).double()


class Mixed(nn.Module):
    """Weights of one and two dimensions, one of them used twice, and parameters with names of all kinds."""

    def __init__(self, sizes):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(sizes[0]))
        self.first = nn.Linear(sizes[0], sizes[1])
        self.norm = nn.LayerNorm(sizes[1])
        self.inner = nn.Linear(sizes[1], sizes[1])
        self.once_more = self.inner
        self.weight_of_inner = nn.Parameter(torch.ones(sizes[1], 1))
        self.skip_weight = nn.Parameter(torch.ones(sizes[1]))
        self.last = nn.Linear(sizes[1], 1)

    def forward(self, x):
        h = self.norm(torch.tanh(self.first(x * self.weight)))
        twice = torch.tanh(self.once_more(torch.tanh(self.inner(h))))
        return self.last(h * self.skip_weight + twice * self.weight_of_inner.squeeze(-1))
