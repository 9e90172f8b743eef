"""Calls attend on small tensors for the numbers, and in 36 layers for what is held until the backward pass.

In some cases the projection's weights change between the forward and the backward pass: then a projection that runs
again gives another gradient, whatever the process says about its calls.
"""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Projection(nn.Module):
    """From x to q, k and v, side by side. It counts its calls, for the learner to see."""

    def __init__(self, weight, wanted=True):
        super().__init__()
        self.weight = nn.Parameter(weight, requires_grad=wanted)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return nn.functional.linear(x, self.weight)


class WarmUp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x @ x.transpose(-1, -2)).tanh().softmax(-1) @ x

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]


def prepare(case):
    """The layers' common projection and the input, and torch's first-time costs, paid."""
    if "layers" not in case:
        return case
    generator = torch.Generator().manual_seed(case["seed"])

    def draw(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    small = draw(2, 2, 6, 4).requires_grad_()
    for function in (WarmUp.apply, lambda x: (x @ x.transpose(-1, -2)).tanh().softmax(-1) @ x):
        for reentrant in (False, True):
            checkpoint(function, small * 1.0, use_reentrant=reentrant).square().sum().backward()
    torch.func.vjp(torch.tanh, small.detach())[1](small.detach())
    torch.einsum("abij,abkj->abik", small, small).sum().backward()
    channels = case["channels"]
    project = Projection(draw(3 * channels, channels) / channels**0.5)
    project.weight.grad = torch.zeros_like(project.weight)
    x = draw(1, case["tokens"], channels)
    return case | {"project": project, "x": x, "signs": draw(*project.weight.shape)}


def probe(submission, case):
    return run_layers(submission, case) if "layers" in case else look_closely(submission, case)


def run_layers(submission, case):
    x, project = case["x"], case["project"]
    for _ in range(case["layers"]):
        x = x + read(submission.attend(x, project, case["heads"], case["cap"]), x) / 8
    loss = x.square().mean()
    del x
    value = loss.item()
    if loss.requires_grad:
        loss.backward()
    return {"loss": value, "gradient": (project.weight.grad * case["signs"]).sum().item()}


def look_closely(submission, case):
    x = torch.from_numpy(case["x"]).requires_grad_(case["x wanted"])
    project = Projection(torch.from_numpy(case["weight"]).clone(), case["weight wanted"])
    given = [x, x * 0.7][: case["calls"]]
    output = sum(read(submission.attend(each, project, case["heads"], case["cap"]), x) for each in given)
    answer = {"output": output.detach().clone()}
    if case["weights change"]:
        project.weight.data.mul_(-0.6).add_(0.2)
    if output.requires_grad:
        output.backward(torch.from_numpy(case["g"]))
    gradients = {"gradient of x": x, "gradient of the weights": project.weight}
    for name, leaf in gradients.items():
        answer[name] = torch.zeros_like(leaf) if leaf.grad is None else leaf.grad
    return answer | {"calls of project": project.calls}


def read(output, x):
    if not isinstance(output, torch.Tensor):
        raise TypeError(f"attend should return a tensor; it returned a value of type {type(output).__name__}")
    if output.shape != x.shape:
        raise TypeError(f"attend should return a tensor of shape {list(x.shape)}; it has {list(output.shape)}")
    return output
