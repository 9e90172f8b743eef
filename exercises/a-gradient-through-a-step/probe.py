"""Asks for meta-gradients of small losses, and of a wide one whose Hessian would be too large."""

import torch


class Loss:
    """One of the losses of the case. Its value is a tensor of shape (); `weight` is a parameter that it uses."""

    def __init__(self, kind, matrix, other):
        self.kind = kind
        self.matrix, self.other = torch.from_numpy(matrix), torch.from_numpy(other)
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

    def wide(self, x):
        return torch.tanh(x * torch.roll(x, 1) + self.other).sum()


def probe(submission, case):
    inner = Loss(case["inner"], case["inner matrix"], case["inner vector"])
    outer = Loss(case["outer"], case["outer matrix"], case["outer vector"])
    theta = torch.from_numpy(case["theta"])
    answer = submission.meta_gradient(inner, outer, theta, case["rate"], case["steps"])
    if not isinstance(answer, torch.Tensor):
        raise TypeError(f"meta_gradient should return a tensor; it returned a value of type {type(answer).__name__}")
    return {
        "gradient": answer.detach(),
        "a parameter has a .grad": inner.weight.grad is not None or outer.weight.grad is not None,
        "theta is changed": theta.requires_grad or theta.grad is not None,
    }
