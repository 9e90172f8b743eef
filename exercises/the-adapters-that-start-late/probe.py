"""Wraps a case's layers with the learner's `LoRALinear`, and reads outputs, gradients and what would be trained."""

import torch
from torch import nn


def probe(submission, case):
    torch.set_default_dtype(torch.float64)
    bases = [nn.Linear(ins, outs, bias=case["bias"]) for ins, outs in case["sizes"]]
    frozen = [p for base in bases for p in base.parameters()]
    fill(frozen, case["bases"])
    layers = [wrap(submission, base, case) for base in bases]
    if case["ask"] == "fresh":
        return read_fresh(layers, bases, frozen, case)
    adapters = [p for layer in layers for p in (layer.down, layer.up)]
    fill(adapters, case["adapters"])
    inputs = torch.from_numpy(case["inputs"].copy()).requires_grad_(case["ask"] == "gradients")
    if case["ask"] == "training":
        outputs = train(layers, inputs, torch.from_numpy(case["goals"]), case["lr"])
    else:
        outputs = forward(layers, inputs)
        if outputs.requires_grad:
            (outputs * torch.from_numpy(case["goals"])).sum().backward()
    return {
        "outputs": outputs,
        "gradients": torch.cat([gradient_of(p) for p in (inputs, *adapters)]),
        "adapters": flatten(adapters),
        "bases": flatten(frozen),
        "base has a gradient": any(p.grad is not None for p in frozen),
        "adapters require one": [p.requires_grad for p in adapters],
    }


def wrap(submission, base, case):
    ins, outs, rank = base.in_features, base.out_features, case["rank"]
    layer = submission.LoRALinear(base, rank, case["alpha"])
    for name, shape in (("down", (rank, ins)), ("up", (outs, rank))):
        part = getattr(layer, name, None)
        if not isinstance(part, torch.Tensor) or tuple(part.shape) != shape:
            found = tuple(part.shape) if isinstance(part, torch.Tensor) else type(part).__name__
            raise TypeError(f"LoRALinear should have a parameter `{name}` of shape {shape}; it is {found}")
    return layer


def read_fresh(layers, bases, frozen, case):
    inputs = torch.from_numpy(case["inputs"])
    trained = [{name for name, p in layer.named_parameters() if p.requires_grad} for layer in layers]
    saved = [{"down", "up"} | {f"base.{name}" for name in base.state_dict()} for base in bases]
    fresh = {
        "same base": all(layer.base is base for layer, base in zip(layers, bases, strict=True)),
        "base is frozen": not any(p.requires_grad for base in bases for p in base.parameters()),
        "down and up are trained": all(names == {"down", "up"} for names in trained),
        "names": all(set(layer.state_dict()) == names for layer, names in zip(layers, saved, strict=True)),
        "down is zero": any(not layer.down.any() for layer in layers),
        "down is one number": any(bool((layer.down == layer.down.flatten()[0]).all()) for layer in layers),
        "outputs": forward(layers, inputs),
    }
    fill(frozen, case["bases"] + 1.0)
    return fresh | {"outputs with other values in the base": forward(layers, inputs)}


def forward(layers, inputs):
    hidden = inputs
    for place, layer in enumerate(layers):
        result = layer(torch.tanh(hidden) if place else hidden)
        wanted = (*hidden.shape[:-1], len(layer.up))
        if not isinstance(result, torch.Tensor) or tuple(result.shape) != wanted:
            found = tuple(result.shape) if isinstance(result, torch.Tensor) else type(result).__name__
            raise TypeError(f"a layer should give a result of shape {wanted}; it gave {found}")
        hidden = result
    return hidden


def train(layers, inputs, goals, lr):
    parameters = [p for layer in layers for p in layer.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(parameters, lr=lr)
    for goal in goals:
        outputs = forward(layers, inputs)
        optimizer.zero_grad()
        (outputs * goal).sum().backward()
        optimizer.step()
    return outputs


def fill(parameters, numbers):
    pieces = torch.from_numpy(numbers).split([p.numel() for p in parameters])
    with torch.no_grad():
        for parameter, piece in zip(parameters, pieces, strict=True):
            parameter.copy_(piece.view_as(parameter))


def gradient_of(parameter):
    return torch.zeros(parameter.numel()) if parameter.grad is None else parameter.grad.detach().flatten()


def flatten(parameters):
    return torch.cat([p.detach().flatten() for p in parameters])
