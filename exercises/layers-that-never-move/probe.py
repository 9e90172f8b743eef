"""Builds the learner's network in float64, fills in a case's weights, and reads what the case asks for."""

import torch

UNKNOWN, KEPT, FROZEN, TRAINED = range(4)


def probe(submission, case):
    # Names in float32, as everywhere else in the world: what moves a parameter to another type there loses it.
    torch.set_default_dtype(torch.float32 if case["ask"] == "names" else torch.float64)
    network = submission.Network(case["gauges"], case["width"], case["depth"])
    if case["ask"] == "names":
        return {"known": know(network, case["depth"]), "parameters": len(list(network.parameters()))}
    if case["ask"] == "fresh":
        return {"scale": find_tensor(network, "scale")}
    fill(network, case)
    if case["ask"] == "checkpoint":
        loaded = submission.Network(case["gauges"], case["width"], case["depth"])
        loaded.load_state_dict(network.state_dict())
        readable = reads(submission.Network(case["gauges"], case["width"], case["depth"]), network, case["depth"])
        return {"outputs": loaded(torch.from_numpy(case["levels"][0])), "reads one from elsewhere": readable}
    if case["ask"] == "forward":
        return {"outputs": network(torch.from_numpy(case["levels"][0]))}
    batches = list(zip(torch.from_numpy(case["levels"]), torch.from_numpy(case["missing"]), strict=True))
    for _ in range(case["epochs"]):
        submission.train(network, batches, lr=case["lr"], momentum=case["momentum"])
    return {"trained": torch.cat([tensor.detach().flatten() for tensor in tensors_of(network, case["depth"])])}


def name_tensors(depth):
    layers = ["stem", "head", *(f"blocks.{place}" for place in range(depth))]
    return ["scale", *(f"{layer}.{tensor}" for layer in layers for tensor in ("weight", "bias"))]


def tensors_of(network, depth):
    """What is to be trained, however the network holds it."""
    return [find_tensor(network, name) for name in name_tensors(depth)]


def find_tensor(network, name):
    """Follows the name through modules, lists and dicts."""
    value = network
    for part in name.split("."):
        if isinstance(value, (list, tuple)):
            value = value[int(part)] if int(part) < len(value) else None
        else:
            value = value.get(part) if isinstance(value, dict) else getattr(value, part, None)
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"the network should hold a tensor named {name}; it holds {type(value).__name__} there")
    return value


def know(network, depth):
    """For each name: is it unknown to the network, kept without being a parameter, a frozen one, or trained?"""
    trained = dict(network.named_parameters())
    kept = network.state_dict()
    return [
        (TRAINED if trained[name].requires_grad else FROZEN) if name in trained else KEPT if name in kept else UNKNOWN
        for name in name_tensors(depth)
    ]


def reads(reader, network, depth):
    """Whether `reader` can load a checkpoint with the names that the task lists, and no others."""
    elsewhere = {name: find_tensor(network, name).detach() for name in name_tensors(depth)}
    try:
        reader.load_state_dict(elsewhere)
    except RuntimeError as error:
        if "loading state_dict" not in str(error):
            raise
        return False
    return True


def fill(network, case):
    start = torch.from_numpy(case["start"])
    with torch.no_grad():
        for tensor in tensors_of(network, case["depth"]):
            tensor.copy_(start[: tensor.numel()].view_as(tensor))
            start = start[tensor.numel() :]
