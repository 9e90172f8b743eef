"""Runs layers under checkpoints with the submission's contexts, and changes all weights before the backward pass.

A product that runs again then gives other numbers, and so another gradient, whatever the process says about its
counts.
"""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

aten = torch.ops.aten
PRODUCTS = (aten.mm.default, aten.addmm.default, aten.bmm.default, aten.baddbmm.default)

MULTIPLY = {
    "linear": lambda h, weight, bias: F.linear(h, weight.t(), bias),
    "linear without bias": lambda h, weight, bias: F.linear(h, weight.t()),
    "bmm": lambda h, weight, bias: torch.bmm(h, weight.expand(len(h), -1, -1)),
    "baddbmm": lambda h, weight, bias: torch.baddbmm(bias, h, weight.expand(len(h), -1, -1)),
    "einsum": lambda h, weight, bias: torch.einsum("rtc,cd->rtd", h, weight),
    "no product": lambda h, weight, bias: torch.cat([h, h], -1)[..., : weight.shape[-1]] + bias,
}
BEND = {
    "gelu": F.gelu,
    "sigmoid": torch.sigmoid,
    "gate": lambda u: F.silu(u) * torch.tanh(u),
    "exp": lambda u: torch.exp(-u * u),
}


class Layer(nn.Module):
    """x + tanh(product(bend(product(norm(x)))))."""

    def __init__(self, product, bend, width, inner, draw):
        super().__init__()
        self.product, self.bend = MULTIPLY[product], BEND[bend]
        self.up = nn.Parameter(draw(width, inner) / width**0.5)
        self.down = nn.Parameter(draw(inner, width) / inner**0.5)
        self.up_bias, self.down_bias = nn.Parameter(draw(inner)), nn.Parameter(draw(width))

    def forward(self, x):
        h = self.product(F.layer_norm(x, x.shape[-1:]), self.up, self.up_bias)
        return x + torch.tanh(self.product(self.bend(h), self.down, self.down_bias))

    def change(self, generator):
        for weight in (self.up, self.down):
            weight.data.normal_(std=len(weight) ** -0.5, generator=generator)


class ProductCount(TorchDispatchMode):
    """Counts the products that really run, for the learner to see."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        self.count += op in PRODUCTS
        return op(*args, **(kwargs or {}))


class Stack(nn.ModuleList):
    """Layers whose gradients have their memory already."""

    def __init__(self, layers):
        super().__init__(layers)
        for parameter in self.parameters():
            parameter.grad = torch.zeros_like(parameter)


def prepare(case):
    """The layers and the input, and torch's first-time costs, paid."""
    generator = torch.Generator().manual_seed(case["seed"])

    def draw(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    width, inner = case["shape"][-1], case["inner"]
    layers = Stack(Layer(product, bend, width, inner, draw) for product, bend in case["layers"])
    if case["measured"]:
        small = Layer("linear without bias", "gate", 4, 8, draw)
        for answer in (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_RECOMPUTE):
            warm_up(small, draw(3, 4), lambda ctx, op, *args, answer=answer, **kwargs: answer)
    x = draw(*case["shape"]).requires_grad_(case["x wanted"])
    return {"layers": layers, "x": x, "g": draw(*case["shape"]), "next": generator, "measured": case["measured"]}


def warm_up(layer, x, policy):
    def pair():
        return create_selective_checkpoint_contexts(policy)

    with ProductCount():
        checkpoint(layer, x, use_reentrant=False, context_fn=pair).square().sum().backward()


def probe(submission, case):
    layers, x = case["layers"], case["x"]
    with ProductCount() as products:
        output = x
        for layer in layers:
            output = checkpoint(layer, output, use_reentrant=False, context_fn=lambda: read(submission.contexts()))
        value = output.detach()[..., :4].clone()
        for layer in layers:
            layer.change(case["next"])
        output.backward(case["g"])
    gradients = [parameter.grad for parameter in layers.parameters()]
    answer = {"output": value, "products run": products.count}
    if case["measured"]:
        return answer | {"gradient": sum((gradient**2).sum().item() for gradient in gradients)}
    answer["gradient of x"] = torch.zeros_like(x) if x.grad is None else x.grad
    return answer | {"gradients of the weights": torch.stack([(each * each.cos()).sum() for each in gradients])}


def read(pair):
    if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not all(hasattr(one, "__enter__") for one in pair):
        raise TypeError("contexts should return two context managers: one for the first run, one for the second")
    return pair
