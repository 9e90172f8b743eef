"""Validates a case's model with the learner's `validate`, and reads the losses and what has changed since."""

import torch
from torch import nn
from torch.nn import functional as F


class BrokenRecordError(Exception):
    """Raised by the batches of a case that asks what happens then."""


class TwoModes(nn.Module):
    """Computes something else in training mode, as dropout does, but without chance."""

    def forward(self, x):
        return x.tanh() if self.training else x.sigmoid()


def prepare(case):
    """The model with gradients from before, the batches, and torch's first-time costs, paid."""
    generator = torch.Generator().manual_seed(case["seed"])

    def draw(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    warm_up()
    hidden, features = case["hidden"], 4
    model = nn.Sequential(nn.Linear(features, hidden), TwoModes(), nn.Linear(hidden, 1)).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(draw(*parameter.shape) / parameter.shape[-1] ** 0.5)
            parameter.grad = draw(*parameter.shape)
    model[2].bias.requires_grad_(False)
    model.train(case["training"])
    model[0].eval()
    batches = [(draw(case["rows"], features), draw(case["rows"])) for _ in range(case["batches"])]
    return case | {"model": model, "batches": batches}


def warm_up():
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1)).double()
    for recording in (True, False):
        with torch.set_grad_enabled(recording):
            loss = F.mse_loss(model(torch.zeros(2, 4).double()).squeeze(-1), torch.zeros(2).double())
            if recording:
                loss.backward()
            loss.item()


def probe(submission, case):
    model, before = case["model"], [p.grad.clone() for p in case["model"].parameters()]
    with torch.set_grad_enabled(case["recording"]):
        losses = ask(submission, model, case)
        recording = torch.is_grad_enabled()
    return {
        "losses": torch.tensor(losses, dtype=torch.float64),
        "recording": recording,
        "training": [module.training for module in model.modules()],
        "frozen": [not parameter.requires_grad for parameter in model.parameters()],
        "gradients kept": [
            p.grad is not None and torch.equal(p.grad, old) for p, old in zip(model.parameters(), before, strict=True)
        ],
    }


def ask(submission, model, case):
    try:
        losses = submission.validate(model, give(case["batches"], case["breaks"]))
    except BrokenRecordError:
        return []
    if not isinstance(losses, (list, tuple)):
        raise TypeError(f"validate should return a list; it returned a value of type {type(losses).__name__}")
    for entry in losses:
        if isinstance(entry, torch.Tensor) or not hasattr(entry, "__float__"):
            raise TypeError(f"the list should hold plain numbers; it holds an entry of type {type(entry).__name__}")
    return [float(loss) for loss in losses]


def give(batches, breaks):
    """The batches, once. With `breaks`, the last one cannot be read."""
    for place, batch in enumerate(batches):
        if breaks and place == len(batches) - 1:
            raise BrokenRecordError("a batch cannot be read")
        yield batch
