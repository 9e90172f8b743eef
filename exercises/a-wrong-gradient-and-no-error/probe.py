"""Trains with the learner's `train`, or shows the learner's `looks_wrong` a case's functions.

The functions are in host.py, out of the learner's reach. Only their values and gradients come here.
"""

import numpy as np
import torch


def probe(submission, case):
    if "programs" in case:
        return {"wrong": [show(submission.looks_wrong, case["ask"], *each) for each in enumerate(case["programs"])]}
    batches = list(zip(torch.from_numpy(case["hours"]), torch.from_numpy(case["counts"]), strict=True))
    start = torch.from_numpy(case["start"].copy())
    before = [tensor.clone() for batch in batches for tensor in batch]
    trained = submission.train(start, batches, lr=case["lr"], cap=case["cap"])
    weights, heights = read_training(trained)
    unchanged = torch.equal(start, torch.from_numpy(case["start"]))
    after = [tensor for batch in batches for tensor in batch]
    unchanged = unchanged and len(after) == len(before)
    unchanged = unchanged and all(torch.equal(one, was) for one, was in zip(after, before, strict=True))
    return {"weights": weights, "heights": heights, "inputs unchanged": unchanged}


def read_training(trained):
    """Weights and heights, copied: what was returned may be the caller's own tensor."""
    if not (isinstance(trained, (tuple, list)) and len(trained) == 2):
        raise TypeError("train should return the weights and a list of heights")
    weights, heights = trained
    if not isinstance(weights, torch.Tensor):
        raise TypeError(
            f"the weights that train returns should be a tensor; they are of type {type(weights).__name__}"
        )
    return weights.detach().clone(), [float(height) for height in heights]


def show(looks_wrong, ask, number, x):
    def function(x):
        value, _ = Asked.apply(x, lambda numbers: ask([number, *numbers]))
        return value

    said = looks_wrong(function, torch.tensor(x, dtype=torch.float64))
    if isinstance(said, torch.Tensor) and said.dtype == torch.bool and said.numel() == 1:
        said = said.item()
    if not isinstance(said, (bool, np.bool_)):
        raise TypeError(f"looks_wrong should return True or False; it returned {said!r}")
    return bool(said)


class Asked(torch.autograd.Function):
    """A function's value, and the gradient that autograd computes for it where the function runs.

    The gradient is a second result, so that `setup_context` can save it: torch.func asks for that form.
    """

    @staticmethod
    def forward(x, ask):
        value, *gradient = ask(x.tolist())
        return x.new_tensor(value), x.new_tensor(gradient)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(output[1])

    @staticmethod
    def backward(ctx, upstream, _):
        (gradient,) = ctx.saved_tensors
        return upstream * gradient, None

    @staticmethod
    def vmap(info, in_dims, x, ask):
        rows = [Asked.apply(row, ask) for row in x.movedim(in_dims[0], 0)]
        return tuple(torch.stack(part) for part in zip(*rows, strict=True)), (0, 0)
