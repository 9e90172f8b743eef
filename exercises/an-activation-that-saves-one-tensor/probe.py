"""Calls act on small tensors for the numbers, and on many larger ones for what is held until the backward pass.

The numbers of the large case are sums: they show a wrong gradient, and cost little memory themselves.
"""

import torch
from torch.utils.checkpoint import checkpoint

OVERWRITTEN = "modified by an inplace operation"


class WarmUp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sigmoid(x) * torch.tanh(x)

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]


def prepare(case):
    """The one large input and its gradient, and torch's first-time costs, paid."""
    if case["calls"] < 2:
        return case
    small = torch.linspace(-1, 1, 8, dtype=torch.float64).requires_grad_()
    for function in (WarmUp.apply, torch.exp):
        for reentrant in (False, True):
            checkpoint(function, small * 1.0, use_reentrant=reentrant).sum().backward()
    torch.func.jvp(torch.tanh, (small.detach(),), (small.detach(),))
    generator = torch.Generator().manual_seed(case["seed"])
    x = torch.empty(case["entries"], dtype=torch.float64).uniform_(-2.5, 2.5, generator=generator)
    x.grad = torch.zeros_like(x)
    return case | {"large x": x.requires_grad_()}


def probe(submission, case):
    return sum_up_calls(submission, case) if case["calls"] > 1 else look_closely(submission, case)


def sum_up_calls(submission, case):
    """Some calls on scaled copies of the same tensor and one backward pass, perhaps all of it twice."""
    x, shown = case["large x"], case["shown"]
    for _ in range(case["rounds"]):
        total = 0.0
        for number in range(case["calls"]):
            total = total + read(submission.act(x * scale(number))) * (1 + number % 3)
        value = total.detach()[:shown].clone()
        if total.requires_grad:
            total.backward(torch.ones(1, dtype=torch.float64).expand_as(x))
        del total
    return {"y": value, "gradient": x.grad[:shown].clone(), "sum": x.grad.sum().item()}


def scale(number):
    return 0.5 + (number % 7) / 7


def look_closely(submission, case):
    leaf = torch.from_numpy(case["x"].T.copy().T if case["transposed"] else case["x"]).requires_grad_(case["wanted"])
    given = leaf * 1.0 if case["of a result"] else leaf
    before = given.detach().clone()
    y = read(submission.act(given))
    answer = {"y": y.detach().clone(), "x unchanged": torch.equal(given.detach(), before)}
    upstream = torch.from_numpy(case["g"])
    connected = y.shape == given.shape and y.requires_grad
    if case["change"] and connected:
        answer["gradient"], answer["noticed"] = change_and_walk_back(submission, given, y, leaf, upstream)
    else:
        answer["gradient"], answer["noticed"] = (
            walk_back(y, leaf, upstream) if connected else torch.zeros_like(leaf),
            True,
        )
    return answer | {"connected": connected}


def change_and_walk_back(submission, given, y, leaf, upstream):
    """The gradient at the old x, and whether y gives it too, or an error, after x has changed."""
    copy = given.detach().clone().requires_grad_()
    right = walk_back(read(submission.act(copy)), copy, upstream)
    with torch.no_grad():
        given.mul_(0.5).add_(0.25)
    try:
        late = walk_back(y, leaf, upstream)
    except RuntimeError as error:
        if OVERWRITTEN not in str(error):
            raise
        return right, True
    return right, torch.allclose(late, right, rtol=1e-9, atol=1e-9)


def walk_back(y, leaf, upstream):
    leaf.grad = None
    y.backward(upstream)
    return torch.zeros_like(leaf) if leaf.grad is None else leaf.grad


def read(y):
    if not isinstance(y, torch.Tensor):
        raise TypeError(f"act should return a tensor; it returned a value of type {type(y).__name__}")
    return y
