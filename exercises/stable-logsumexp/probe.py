"""Applies the learner's Function under a watch, and walks back from its result once."""

import re

import torch
from torch.utils._python_dispatch import TorchDispatchMode

TAKEN_AWAY = ("logsumexp", "log_softmax", "logaddexp", "cross_entropy", "nll_loss")
STANDS_FOR_MINUS_INFINITY = -1e300


class Watch(TorchDispatchMode):
    """Refuses what the task takes away, under whatever name it is called."""

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        if any(name in operation.name() for name in TAKEN_AWAY):
            raise RuntimeError(f"{operation.name()} is taken away in this exercise: work it out yourself")
        return operation(*args, **(kwargs or {}))


class Once:
    """Lets the engine be entered from here, and not again from inside a backward."""

    def __init__(self):
        self.original = torch.autograd._engine_run_backward
        self.is_running = False

    def __enter__(self):
        torch.autograd._engine_run_backward = self.run

    def __exit__(self, *_):
        torch.autograd._engine_run_backward = self.original

    def run(self, *args, **kwargs):
        if self.is_running:
            raise RuntimeError("autograd was called inside backward: work the gradient out yourself")
        self.is_running = True
        try:
            return self.original(*args, **kwargs)
        finally:
            self.is_running = False


def probe(submission, case):
    function = submission.LogSumExp
    if not (isinstance(function, type) and issubclass(function, torch.autograd.Function)):
        raise TypeError("LogSumExp should be a subclass of torch.autograd.Function")
    x = torch.from_numpy(case["x"]).requires_grad_()
    upstream = torch.from_numpy(case["g"])
    with Watch(), Once():
        value = function.apply(x, case["dim"])
        is_own = is_one_step(function, value, x)
        gradient, count = walk_back(value, x, upstream)
    value = value.detach()
    return {
        "value": torch.where(value.isneginf(), torch.full_like(value, STANDS_FOR_MINUS_INFINITY), value),
        "gradient": gradient,
        "gradients returned": count,
        "your node alone": is_own,
    }


def walk_back(value, x, upstream):
    """The gradient of x, and how many gradients the backward returned."""
    if value.shape != upstream.shape:
        return torch.zeros_like(x), 2
    try:
        (gradient,) = torch.autograd.grad(value, x, upstream)
    except RuntimeError as error:
        returned = re.search(r"incorrect number of gradients \(expected \d+, got (\d+)\)", str(error))
        if not returned:
            raise
        return torch.zeros_like(x), int(returned[1])
    return gradient, 2


def is_one_step(function, value, x):
    node = value.grad_fn
    if node is None or not isinstance(node, function._backward_cls):
        return False
    targets = [target for target, _ in node.next_functions if target is not None]
    return len(targets) == 1 and getattr(targets[0], "variable", None) is x
