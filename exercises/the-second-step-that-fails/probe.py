"""Runs the learner's `fit` on a case's tensors, and then uses the tensors as a caller would."""

import torch


def probe(submission, case):
    start = torch.from_numpy(case["start"])
    weights, offset = start[:-1].clone().requires_grad_(), start[-1].clone().requires_grad_()
    if case["stale"]:
        left = torch.from_numpy(case["left_over"])
        weights.grad, offset.grad = left[:-1].clone(), left[-1].clone()
    data = torch.from_numpy(case["readings"]), torch.from_numpy(case["targets"])
    log = []
    for _ in range(case["calls"]):
        log += read_log(submission.fit(weights, offset, *data, lr=case["lr"], steps=case["steps"]))
    recording = torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    return {
        "recording": recording,
        "moved": torch.cat([weights.detach(), offset.detach().reshape(1)]),
        "trainable": all(tensor.requires_grad and tensor.is_leaf for tensor in (weights, offset)),
        "log": torch.tensor(log, dtype=torch.float64),
        "gradient afterwards": use_again(weights, offset, *data),
    }


def use_again(weights, offset, readings, targets):
    """The gradient of another loss of the caller's, as `.grad` of the same tensors."""
    weights.grad = offset.grad = None
    loss = (readings @ weights + offset - targets).pow(4).mean()
    if loss.requires_grad:
        loss.backward()
    gradients = [torch.zeros_like(t) if t.grad is None else t.grad for t in (weights, offset)]
    return torch.cat([gradients[0], gradients[1].reshape(1)])


def read_log(log):
    if not isinstance(log, (list, tuple)):
        raise TypeError(f"fit should return the list of the losses; it returned {type(log).__name__}")
    for entry in log:
        if isinstance(entry, torch.Tensor) or not hasattr(entry, "__float__"):
            raise TypeError(f"the log should hold plain numbers; it holds an entry of type {type(entry).__name__}")
    return [float(entry) for entry in log]
