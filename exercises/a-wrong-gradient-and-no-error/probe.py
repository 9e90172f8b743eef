"""Trains with the learner's `train`, or shows the learner's `looks_wrong` a case's functions.

The functions are with host.py, out of the learner's reach: here are only their values, and their gradients.
"""

import torch


def probe(submission, case):
    if "programs" in case:
        return {"wrong": [show(submission.looks_wrong, case["ask"], *each) for each in enumerate(case["programs"])]}
    batches = list(zip(torch.from_numpy(case["hours"]), torch.from_numpy(case["counts"]), strict=True))
    start = torch.from_numpy(case["start"].copy())
    weights, heights = submission.train(start, batches, lr=case["lr"], cap=case["cap"])
    return {"weights": weights, "heights": [float(height) for height in heights]}


def show(looks_wrong, ask, number, x):
    def function(x):
        return Asked.apply(x, lambda numbers: ask([number, *numbers]))

    said = looks_wrong(function, torch.tensor(x, dtype=torch.float64))
    if not isinstance(said, bool):
        raise TypeError(f"looks_wrong should return True or False; it returned {said!r}")
    return said


class Asked(torch.autograd.Function):
    """A function's value, and the gradient that autograd computes for it, wherever that is done."""

    @staticmethod
    def forward(ctx, x, ask):
        value, *gradient = ask(x.tolist())
        ctx.save_for_backward(x.new_tensor(gradient))
        return x.new_tensor(value)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, upstream):
        (gradient,) = ctx.saved_tensors
        return upstream * gradient, None
