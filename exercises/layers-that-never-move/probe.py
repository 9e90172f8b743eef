"""Builds the learner's network in float64, fills in a case's weights, and reads what the case asks for."""

import torch

UNKNOWN, KEPT, FROZEN, TRAINED = range(4)


def probe(submission, case):
    # Names in float32, as everywhere else in the world: what moves a parameter to another type there loses it.
    torch.set_default_dtype(torch.float32 if case["ask"] == "names" else torch.float64)
    network = submission.Network(case["gauges"], case["width"], case["depth"])
    if case["ask"] == "names":
        return {"known": know(network, case["depth"])}
    if case["ask"] == "fresh":
        return {"scale": network.scale}
    fill(network, case)
    if case["ask"] == "checkpoint":
        loaded = submission.Network(case["gauges"], case["width"], case["depth"])
        loaded.load_state_dict(network.state_dict())
        return {"outputs": loaded(torch.from_numpy(case["levels"][0].copy()))}
    if case["ask"] == "forward":
        return {"outputs": network(torch.from_numpy(case["levels"][0].copy()))}
    batches = list(zip(torch.from_numpy(case["levels"]), torch.from_numpy(case["missing"]), strict=True))
    for _ in range(case["epochs"]):
        submission.train(network, batches, lr=case["lr"], momentum=case["momentum"])
    return {"trained": torch.cat([tensor.detach().flatten() for tensor in tensors_of(network).values()])}


def tensors_of(network):
    """What is to be trained, by its name, however the network holds it."""
    tensors = {"scale": network.scale}
    layers = {"stem": network.stem, "head": network.head}
    layers |= {f"blocks.{place}": block for place, block in enumerate(network.blocks)}
    for name, layer in layers.items():
        tensors |= {f"{name}.weight": layer.weight, f"{name}.bias": layer.bias}
    return tensors


def know(network, depth):
    """For each name: is it unknown to the network, kept without being a parameter, a frozen one, or trained?"""
    trained = dict(network.named_parameters())
    kept = network.state_dict()
    layers = ["stem", "head", *(f"blocks.{place}" for place in range(depth))]
    names = ["scale", *(f"{layer}.{tensor}" for layer in layers for tensor in ("weight", "bias"))]
    return [
        (TRAINED if trained[name].requires_grad else FROZEN) if name in trained else KEPT if name in kept else UNKNOWN
        for name in names
    ]


def fill(network, case):
    if len(network.blocks) != case["depth"]:
        raise ValueError(f"the network should have {case['depth']} blocks; it has {len(network.blocks)}")
    start = torch.from_numpy(case["start"].copy())
    with torch.no_grad():
        for tensor in tensors_of(network).values():
            tensor.copy_(start[: tensor.numel()].view_as(tensor))
            start = start[tensor.numel() :]
