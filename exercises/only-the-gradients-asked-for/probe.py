"""Calls Linear on small tensors for the numbers, and on large ones for what the kernel counts.

The answers to a large case are a few entries and means: they show a wrong gradient, and take little memory.
"""

import math
import re

import torch

SIDES = ("", "second ")
NAMES = ("x", "weight", "bias")
WRONG_COUNT = r"incorrect number of gradients \(expected \d+, got (\d+)\)"
WRONG_SHAPE = "returned an invalid gradient at index"
COUNT = 3


class WarmUp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        return torch.nn.functional.linear(x, weight, bias)

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        return g @ weight, torch.einsum("ri,rj->ij", g, x), g.sum(0)


def prepare(case):
    """The large tensors with their gradients, and torch's first-time costs, paid."""
    if "large" not in case:
        return case
    small = [torch.ones(size, dtype=torch.float64).requires_grad_() for size in ((96, 80), (96, 80), (96,))]
    for function in (WarmUp.apply, torch.nn.functional.linear):
        (function(*small) * 0.5).sum().backward()
    generator = torch.Generator().manual_seed(case["seed"])
    rows, ins, outs = case["large"]
    shapes = {"x": (*([2, rows // 2] if case["deep"] else [rows]), ins), "weight": (outs, ins), "bias": (outs,)}
    made = {}
    for name, shape in shapes.items():
        made[name] = tensor = draw_large(generator, shape, 1 / ins**0.5 if name == "weight" else 1.0)
        if name not in case["frozen"]:
            tensor.grad = torch.zeros_like(tensor)
            tensor.requires_grad_()
    return case | made


def draw_large(generator, shape, bound):
    """Numbers that repeat after a block of prime length: drawing all of them would take longer than the judging."""
    block = torch.empty(65_521, dtype=torch.float64).uniform_(-bound, bound, generator=generator)
    entries = math.prod(shape)
    return block.repeat(-(-entries // len(block)))[:entries].reshape(shape)


def probe(submission, case):
    function = submission.Linear
    if not (isinstance(function, type) and issubclass(function, torch.autograd.Function)):
        raise TypeError("Linear should be a subclass of torch.autograd.Function")
    return sum_up_calls(function, case) if "large" in case else look_closely(function, case)


def sum_up_calls(function, case):
    """One call, or many on scaled copies of x, and one backward pass."""
    tensors = {name: case[name] for name in NAMES}
    x, calls = case["x"], case["calls"]
    total = 0.0
    for number in range(calls):
        given = x if calls == 1 else x * (0.5 + (number % 7) / 7)
        total = total + read(function.apply(given, case["weight"], case["bias"])) * (1 + number % 3)
        del given
    value = total.detach().reshape(-1, total.shape[-1])[:3, :3].clone()
    if total.requires_grad:
        upstream = torch.linspace(-1, 2, total.shape[-1], dtype=torch.float64)
        total.backward(upstream.expand_as(total))
    answer = {"y": value}
    for name, tensor in tensors.items():
        if name not in case["frozen"]:
            answer[f"gradient of {name}"] = tensor.grad.reshape(-1)[:6].clone()
            answer[f"mean gradient of {name}"] = tensor.grad.mean().item()
    return answer


def look_closely(function, case):
    sides = [side for side in SIDES if side + "x" in case]
    given = [{name: lay_out(case, side, name) for name in NAMES} for side in sides]
    ys = [read(function.apply(*inputs.values())) for inputs in given]
    own = all(is_one_step(function, y, inputs) for y, inputs in zip(ys, given, strict=True))
    upstreams = [flip(case[side + "g"], case["flipped"]) for side in sides]
    gradients, count, fits = walk_back(ys, given, upstreams)
    answer = {}
    for side, y, found in zip(sides, ys, gradients, strict=True):
        answer[f"{side}y"] = y.detach()
        answer |= {f"{side}gradient of {name}": found[name] for name in found}
    return answer | {"gradients returned": count, "shapes fit": fits, "your node alone": own}


def read(y):
    if not isinstance(y, torch.Tensor):
        raise TypeError(f"Linear.apply should return a tensor; it returned a value of type {type(y).__name__}")
    return y


def lay_out(case, side, name):
    """A leaf that shares the case's memory, x perhaps in another memory order; None without a bias."""
    if side + name not in case:
        return None
    return flip(case[side + name], case["flipped"] and name == "x").requires_grad_(name not in case["frozen"])


def flip(array, flipped):
    """A tensor of the same entries, perhaps in the memory order of its transpose."""
    return torch.from_numpy(array.T.copy()).permute(*range(array.ndim)[::-1]) if flipped else torch.from_numpy(array)


def walk_back(ys, given, upstreams):
    """The gradients of each side by name, the number that backward returned, and whether their shapes fit."""
    leaves = {(at, name): leaf for at, side in enumerate(given) for name, leaf in side.items() if leaf is not None}
    gradients = [{name: torch.zeros_like(leaf) for name, leaf in side.items() if leaf is not None} for side in given]
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
    wanted = [leaf for leaf in inputs.values() if leaf is not None and leaf.requires_grad]
    return len(targets) == len(wanted) and all(any(target is leaf for target in targets) for leaf in wanted)
