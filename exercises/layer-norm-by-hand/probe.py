"""Applies the learner's Function to one input or to two, and walks back from all results at once."""

import re

import torch

SIDES = ("", "second ")
NAMES = ("x", "weight", "bias")
WRONG_COUNT = r"incorrect number of gradients \(expected \d+, got (\d+)\)"
WRONG_SHAPE = "returned an invalid gradient at index"
COUNT = 4


def probe(submission, case):
    function = submission.LayerNorm
    if not (isinstance(function, type) and issubclass(function, torch.autograd.Function)):
        raise TypeError("LayerNorm should be a subclass of torch.autograd.Function")
    sides = [side for side in SIDES if side + "x" in case]
    given = [{name: lay_out(case, side, name) for name in NAMES} for side in sides]
    ys = [function.apply(*inputs.values(), case["eps"]) for inputs in given]
    if strange := [type(y).__name__ for y in ys if not isinstance(y, torch.Tensor)]:
        raise TypeError(f"LayerNorm.apply should return a tensor; it returned a value of type {strange[0]}")
    own = all(is_one_step(function, y, inputs) for y, inputs in zip(ys, given, strict=True))
    upstreams = [torch.from_numpy(case[side + "g"]) for side in sides]
    gradients, count, fits = walk_back(ys, given, upstreams)
    answer = {}
    for side, y, found in zip(sides, ys, gradients, strict=True):
        answer[f"{side}y"] = y.detach()
        answer |= {f"{side}gradient of {name}": found[name] for name in NAMES}
    return answer | {"gradients returned": count, "shapes fit": fits, "your node alone": own}


def lay_out(case, side, name):
    """A leaf that shares the case's memory; x perhaps in the memory order of its transpose."""
    array = case[side + name]
    if case["transposed"] and name == "x":
        array = array.T.copy().T
    return torch.from_numpy(array).requires_grad_(name not in case["frozen"])


def walk_back(ys, given, upstreams):
    """The gradients of each side by name, the number that backward returned, and whether their shapes fit."""
    leaves = {(at, name): leaf for at, side in enumerate(given) for name, leaf in side.items()}
    gradients = [{name: torch.zeros_like(leaf) for name, leaf in side.items()} for side in given]
    wanted = [key for key, leaf in leaves.items() if leaf.requires_grad]
    if not all(y.requires_grad and y.shape == g.shape for y, g in zip(ys, upstreams, strict=True)):
        return gradients, COUNT, True
    try:
        found = torch.autograd.grad(ys, [leaves[key] for key in wanted], upstreams, allow_unused=True)
    except RuntimeError as error:
        returned = re.search(WRONG_COUNT, str(error))
        if not returned and WRONG_SHAPE not in str(error):
            raise
        return gradients, int(returned[1]) if returned else COUNT, bool(returned)
    for (at, name), gradient in zip(wanted, found, strict=True):
        if gradient is not None:
            gradients[at][name] = gradient
    return gradients, COUNT, True


def is_one_step(function, y, inputs):
    node = y.grad_fn
    if not isinstance(node, torch.autograd.function.BackwardCFunction) or type(node) is not function._backward_cls:
        return False
    targets = [getattr(target, "variable", None) for target, _ in node.next_functions if target is not None]
    wanted = [leaf for leaf in inputs.values() if leaf.requires_grad]
    return len(targets) == len(wanted) and all(any(target is leaf for target in targets) for leaf in wanted)
