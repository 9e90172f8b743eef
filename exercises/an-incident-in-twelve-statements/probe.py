"""Trains with the submission and hands over each step's loss and weights."""

from collections.abc import Iterator

import torch

ASKED = "train should return a list of tuples (loss, w, b), one for each step"


def probe(submission, case):
    w, b = torch.from_numpy(case["w"].copy()), torch.tensor(case["b"], dtype=torch.float64)
    columns = (torch.from_numpy(case[name].copy()).split(list(case["sizes"])) for name in ("x", "y"))
    batches = list(zip(*columns, strict=True))
    before = [w.clone(), b.clone(), *(tensor.clone() for batch in batches for tensor in batch)]
    log = submission.train(w, b, list(batches), case["rate"])
    if not isinstance(log, list | tuple | Iterator):
        raise TypeError(f"{ASKED}; it returned a value of type {type(log).__name__}")
    log = list(log)
    if not all(isinstance(entry, list | tuple) and len(entry) == 3 for entry in log):
        raise TypeError(ASKED)
    after = [w, b, *(tensor for batch in batches for tensor in batch)]
    return {
        "losses": torch.tensor([read_loss(loss) for loss, _, _ in log], dtype=torch.float64),
        "w": stack([read(weights, "w") for _, weights, _ in log], "w"),
        "b": stack([read_single(bias) for _, _, bias in log], "b"),
        "changes the caller's": any(not torch.equal(one, other) for one, other in zip(before, after, strict=True)),
    }


def read_loss(value):
    try:
        return float(value)
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"a loss should be one number; it is a value of type {type(value).__name__}") from None


def read(value, name):
    if not isinstance(value, torch.Tensor):
        raise TypeError(
            f"{name} in a tuple of the result should be a tensor; it is a value of type {type(value).__name__}"
        )
    return value.detach().to(torch.float64).clone()


def read_single(value):
    bias = read(value, "b")
    if bias.numel() != 1:
        raise TypeError(f"b in a tuple of the result should have shape (); it has shape {tuple(bias.shape)}")
    return bias.reshape(())


def stack(values, name):
    if len({value.shape for value in values}) > 1:
        raise TypeError(f"{name} should have the same shape in each step")
    return torch.stack(values) if values else torch.zeros(0, dtype=torch.float64)
