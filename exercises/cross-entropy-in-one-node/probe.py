"""Applies the learner's Function to one batch or to two, and walks back from all losses at once, twice."""

import re

import torch

SIDES = ("", "second ")
WRONG_COUNT = r"incorrect number of gradients \(expected \d+, got (\d+)\)"
OVERWRITTEN = "modified by an inplace operation"
COUNT = 2


def probe(submission, case):
    function = submission.CrossEntropy
    if not (isinstance(function, type) and issubclass(function, torch.autograd.Function)):
        raise TypeError("CrossEntropy should be a subclass of torch.autograd.Function")
    sides = [side for side in SIDES if side + "logits" in case]
    leaves = [torch.from_numpy(lay_out(case, side)).requires_grad_() for side in sides]
    targets = [torch.from_numpy(case[side + "target"]) for side in sides]
    losses = [function.apply(logits, target) for logits, target in zip(leaves, targets, strict=True)]
    if strange := [type(loss).__name__ for loss in losses if not isinstance(loss, torch.Tensor)]:
        raise TypeError(f"CrossEntropy.apply should return a tensor; it returned a value of type {strange[0]}")
    own = all(is_one_step(function, loss, leaf) for loss, leaf in zip(losses, leaves, strict=True))
    upstreams = [torch.tensor(case[side + "g"], dtype=torch.float64) for side in sides]
    again = [torch.zeros_like(leaf) for leaf in leaves]
    gradients, count = walk_back(losses, leaves, upstreams)
    gradients = [gradient.clone() for gradient in gradients]
    if count == COUNT:
        again, count = walk_back(losses, leaves, upstreams)
    answer = {}
    for side, loss, first, second in zip(sides, losses, gradients, again, strict=True):
        answer |= {f"{side}loss": loss.detach(), f"{side}gradient": first, f"{side}gradient once more": second}
    return answer | {"gradients returned": count, "your node alone": own}


def lay_out(case, side):
    """The logits as they came, or with the same entries in the memory order of their transpose."""
    return case[side + "logits"].T.copy().T if case["transposed"] else case[side + "logits"]


def walk_back(losses, leaves, upstreams):
    """The gradient of each leaf, zeros where there is none, and how many backward returned: 0 if it could not run."""
    nothing = [torch.zeros_like(leaf) for leaf in leaves]
    if not all(loss.requires_grad and loss.shape == () for loss in losses):
        return nothing, COUNT
    try:
        found = torch.autograd.grad(losses, leaves, upstreams, retain_graph=True, allow_unused=True)
    except RuntimeError as error:
        returned = re.search(WRONG_COUNT, str(error))
        if not returned and OVERWRITTEN not in str(error):
            raise
        return nothing, int(returned[1]) if returned else 0
    return [zeros if one is None else one for one, zeros in zip(found, nothing, strict=True)], COUNT


def is_one_step(function, loss, leaf):
    node = loss.grad_fn
    if not isinstance(node, torch.autograd.function.BackwardCFunction) or type(node) is not function._backward_cls:
        return False
    targets = [target for target, _ in node.next_functions if target is not None]
    return len(targets) == 1 and getattr(targets[0], "variable", None) is leaf
