"""Quantises the case's numbers, perhaps after another step, and walks back with the case's incoming gradient."""

import torch


def probe(submission, case):
    leaf = torch.from_numpy(case["x"]).requires_grad_()
    given = leaf * case["factor"] if case["factor"] else leaf
    before = given.detach().clone()
    y = submission.quantise(given, case["s"])
    if not isinstance(y, torch.Tensor):
        raise TypeError(f"quantise should return a tensor; it returned {type(y).__name__}")
    is_unchanged = bool(torch.equal(given.detach(), before))
    gradient = None
    if y.requires_grad and case["ask"] == "gradient" and y.shape == given.shape:
        (gradient,) = torch.autograd.grad(y, leaf, torch.from_numpy(case["g"]), allow_unused=True)
    return {
        "y": y,
        "gradient": torch.zeros_like(leaf) if gradient is None else gradient,
        "connected": gradient is not None or case["ask"] == "values",
        "x unchanged": is_unchanged,
    }
