"""Builds the blocks and the input, runs forward and backward, and sums the gradients up to one number a block.

A case on a machine has neither: there the judge holds the states.
"""

import torch
from torch.utils.checkpoint import checkpoint

SCALE = 0.3


class Block(torch.nn.Module):
    """x + silu(x A) B. Inside, it is four times as wide as at its ends."""

    def __init__(self, width, draw):
        super().__init__()
        self.widen = torch.nn.Parameter(draw(width, 4 * width) / width**0.5)
        self.narrow = torch.nn.Parameter(draw(4 * width, width) * SCALE / width**0.5)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x + torch.nn.functional.silu(x @ self.widen) @ self.narrow


def prepare(case):
    """Layers with gradients of zero, the input, and the weights of the sums; and torch's first-time costs, paid."""
    if "machine" in case:
        return case
    generator = torch.Generator().manual_seed(case["seed"])

    def draw(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    warm_up(Block(4, draw), draw(8, 4))
    layers = [Block(case["width"], draw) for _ in range(case["blocks"])]
    signs = []
    for layer in layers:
        for parameter in layer.parameters():
            parameter.grad = torch.zeros_like(parameter)
        signs.append([draw(*parameter.shape) for parameter in layer.parameters()])
    return {"layers": layers, "x": draw(case["rows"], case["width"]), "signs": signs}


def warm_up(block, x):
    for reentrant in (False, True):
        checkpoint(block, x.requires_grad_(), use_reentrant=reentrant).square().mean().backward()


def probe(submission, case):
    if "machine" in case:
        return submission.reverse(case["machine"])
    output = submission.forward(case["layers"], case["x"])
    loss = output.square().mean() * case["x"].shape[1]
    del output
    # Where the graph is cut everywhere there is nothing to walk, and every gradient stays zero.
    if loss.requires_grad:
        loss.backward()
    sums = [sum_up(*each) for each in zip(case["layers"], case["signs"], strict=True)]
    return {"loss": loss.item(), "gradients": sums}


def sum_up(layer, signs):
    """One number that any change of the block's gradients changes."""
    return sum((p.grad * sign).sum().item() for p, sign in zip(layer.parameters(), signs, strict=True))


def report(case):
    return {"forward steps": sum(layer.calls for layer in case["layers"])}
