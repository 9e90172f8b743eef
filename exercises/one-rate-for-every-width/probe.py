"""Builds a case's model at both widths, and reads the rate of each parameter."""

import numbers

import torch
from torch import nn


class Block(nn.Module):
    """Holds parts by name; the parts of a dict are inside another block."""

    def __init__(self, parts):
        super().__init__()
        for name, kind, *sizes in parts:
            self.add_module(name, Block(sizes[0]) if kind == "block" else make(kind, sizes))


def make(kind, sizes):
    match kind:
        case "conv":
            channels, out, width, groups = sizes
            return nn.Conv1d(channels, out, width, groups=groups)
        case "gru":
            return nn.GRUCell(*sizes)
        case "norm":
            return nn.LayerNorm(*sizes)
        case "embedding":
            return nn.Embedding(*sizes)
    return nn.Linear(*sizes[:2], bias=len(sizes) == 2)


def probe(submission, case):
    base, model = Block(case["base"]), Block(case["model"])
    names = [name for name, _ in model.named_parameters()]
    rates = submission.make_rates(base, model, case["lr"])
    if not isinstance(rates, dict):
        raise TypeError(f"make_rates should return a dict; it returned a value of type {type(rates).__name__}")
    if set(rates) != set(names):
        different = sorted(map(str, set(rates) ^ set(names)))[0]
        raise TypeError(f"the dict should have the model's names of parameters as its keys; {different} differs")
    return {"rates": [read_number(rates[name], name) for name in names]}


def read_number(rate, name):
    if isinstance(rate, torch.Tensor) and rate.numel() == 1:
        return float(rate)
    if not isinstance(rate, numbers.Real):
        raise TypeError(f"the rate of {name} should be a number; it is of type {type(rate).__name__}")
    return float(rate)
