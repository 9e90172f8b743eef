"""Asks hvp for Hessian-vector products of small functions, and of a wide one with too large a Hessian."""

import torch


class Function:
    """The case's function of one vector; its value is a tensor of shape (). `weight` is a parameter that it uses."""

    def __init__(self, case):
        self.kind = case["kind"]
        self.matrix, self.other = torch.from_numpy(case["matrix"]), torch.from_numpy(case["other"])
        self.weight = torch.nn.Parameter(self.other.clone())

    def __call__(self, x):
        return getattr(self, self.kind)(x)

    def quadratic(self, x):
        return (x * (self.matrix @ x)).sum() / 2 + (self.other * x).sum()

    def network(self, x):
        return torch.tanh(self.matrix @ torch.sin(x + self.other)).pow(2).sum()

    def parameter(self, x):
        return (torch.tanh(self.matrix @ x) * self.weight).sum() + (self.weight * x.pow(3)).sum()

    def linear(self, x):
        return (self.other * x).sum()

    def weighted(self, x):
        return (self.weight * x).sum()

    def wide(self, x):
        return torch.tanh(x * torch.roll(x, 1) + self.other).sum()


def probe(submission, case):
    function = Function(case)
    x, v = torch.from_numpy(case["x"]), torch.from_numpy(case["v"])
    answer = submission.hvp(function, x, v)
    if not isinstance(answer, torch.Tensor):
        raise TypeError(f"hvp should return a tensor; it returned a value of type {type(answer).__name__}")
    return {
        "product": torch.stack([answer.detach(), torch.zeros_like(answer)])[0],  # a ZeroTensor has no memory
        "the parameter has a .grad": function.weight.grad is not None,
        "x or v is changed": x.requires_grad or v.requires_grad or x.grad is not None,
    }
