"""Quantises one tensor or two, perhaps results of another step, and walks back from all outputs at once."""

import torch

SIDES = ("", "second ")


def probe(submission, case):
    sides = [side for side in SIDES if side + "x" in case]
    for side in sides:
        case[side + "x"] = lay_out(case, side)
    leaves = [torch.from_numpy(case[side + "x"]).requires_grad_(case["needs_gradient"]) for side in sides]
    given = [leaf * case["factor"] if case["factor"] else leaf for leaf in leaves]
    before = [x.detach().clone() for x in given]
    ys = [submission.quantise(x, case["s"]) for x in given]
    if strange := [type(y).__name__ for y in ys if not isinstance(y, torch.Tensor)]:
        raise TypeError(f"quantise should return a tensor; it returned a value of type {strange[0]}")
    unchanged = all(torch.equal(x.detach(), was) for x, was in zip(given, before, strict=True))
    asked = case["ask"] == "gradient"
    connected = not asked or all(y.requires_grad and y.shape == x.shape for y, x in zip(ys, given, strict=True))
    gradients = walk_back(case, ys, given, leaves) if asked and connected else [torch.zeros_like(x) for x in leaves]
    answer = {}
    for side, y, gradient in zip(sides, ys, gradients, strict=True):
        answer |= {f"{side}y": y, f"{side}gradient": gradient}
    return answer | {"connected": connected, "x unchanged": unchanged}


def lay_out(case, side):
    """The array as it came, or with the same entries in the memory order of its transpose."""
    return case[side + "x"].T.copy().T if case["transposed"] else case[side + "x"]


def walk_back(case, ys, given, leaves):
    """The gradient of each leaf. Where there is an "h", x also reaches the loss past the quantiser."""
    outputs, upstreams = list(ys), [torch.from_numpy(case[side + "g"]) for side in SIDES[: len(ys)]]
    if case["h"].any():
        outputs.append(given[0])
        upstreams.append(torch.from_numpy(case["h"]))
    found = torch.autograd.grad(outputs, leaves, upstreams, allow_unused=True)
    return [torch.zeros_like(leaf) if one is None else one for one, leaf in zip(found, leaves, strict=True)]
