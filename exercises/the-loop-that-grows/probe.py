"""Trains a case's model with the learner's `train`, and reads the model, the log, and what is left behind."""

import torch
from torch import nn
from torch.nn import functional as F

WAVES = 4


def prepare(case):
    """The model and what batches are made of, and torch's first-time costs, paid."""
    if "large" not in case:
        return case
    warm_up()
    rows, width, hidden = case["large"]
    generator = torch.Generator().manual_seed(case["seed"])

    def draw(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    start = [draw(hidden, width) / width**0.5, draw(hidden), draw(width, hidden) / hidden**0.5, draw(width)]
    model = build_model(width, hidden, torch.cat([piece.flatten() for piece in start]))
    return case | {"model": model, "clean": draw(rows, width), "scales": draw(case["steps"]).tolist()}


def warm_up():
    model = build_model(4, 2, torch.ones(22, dtype=torch.float64))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    hook = model[0].weight.register_hook(take_norm)
    error = model(torch.zeros(2, 4).double()) - 1
    (F.mse_loss(error, torch.zeros(2, 4).double()) + error.abs().mean()).backward()
    optimizer.step()
    optimizer.zero_grad()
    hook.remove()


def take_norm(gradient):
    gradient.norm().item()


def build_model(width, hidden, start):
    model = nn.Sequential(nn.Linear(width, hidden), nn.Tanh(), nn.Linear(hidden, width)).double()
    nn.utils.vector_to_parameters(start.clone(), model.parameters())
    return model


def probe(submission, case):
    model = case["model"] if "large" in case else load_model(case)
    settings = {"lr": case["lr"], "decay": case["decay"]}
    with torch.enable_grad():
        for _ in range(case["trainings"]):
            batches = give_large(case) if "large" in case else give(case)
            losses, sizes, smoothed = read_log(submission.train(model, batches, **settings))
        recording = torch.is_grad_enabled()
    weights = nn.utils.parameters_to_vector(model.parameters()).detach()
    if "large" in case:
        weights = torch.cat([weights[:6], weights[-6:], weights.mean()[None]])
    return {
        "weights": weights,
        "losses": torch.tensor(losses, dtype=torch.float64),
        "sizes": torch.tensor(sizes, dtype=torch.float64),
        "smoothed error": smoothed,
        "hooks left": count_hooks(model),
        "recording": recording,
    }


def load_model(case):
    model = build_model(case["width"], case["hidden"], torch.from_numpy(case["start"]))
    if "left_over" in case:
        pieces = torch.from_numpy(case["left_over"]).split([p.numel() for p in model.parameters()])
        for parameter, left in zip(model.parameters(), pieces, strict=True):
            parameter.grad = left.view_as(parameter).clone()
    return model


def count_hooks(model):
    kinds = "_backward_hooks", "_post_accumulate_grad_hooks", "_forward_hooks", "_forward_pre_hooks"
    holders = [*model.parameters(), *model.modules()]
    return sum(len(getattr(holder, kind, None) or ()) for holder in holders for kind in kinds)


def give(case):
    """The batches, once each, in the case's own memory."""
    yield from zip(torch.from_numpy(case["noisy"]), torch.from_numpy(case["clean"]), strict=True)


def give_large(case):
    """Batches that are made when they are asked for, so that no two of them need to be in memory."""
    for scale in case["scales"]:
        yield case["clean"] * (1 + 0.3 * scale), case["clean"]


def read_log(log):
    if not (isinstance(log, (tuple, list)) and len(log) == 3):
        raise TypeError("train should return three things: the losses, the sizes, and the smoothed error")
    losses, sizes, smoothed = log
    for name, entries in (("losses", losses), ("sizes", sizes)):
        if not isinstance(entries, (list, tuple)):
            raise TypeError(f"the {name} should be a list; they are of type {type(entries).__name__}")
        for entry in entries:
            check_number(f"the {name} should be plain numbers; one is", entry)
    check_number("the smoothed error should be a plain number; it is", smoothed)
    return [float(loss) for loss in losses], [float(size) for size in sizes], float(smoothed)


def check_number(expected, entry):
    if isinstance(entry, torch.Tensor) or not hasattr(entry, "__float__"):
        raise TypeError(f"{expected} of type {type(entry).__name__}")
