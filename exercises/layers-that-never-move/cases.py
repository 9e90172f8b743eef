"""A network's names, its values and its training, each replayed with the layers or the scale left where they were."""

import numpy as np
import torch
from torch.nn import functional as F

UNKNOWN, KEPT, FROZEN, TRAINED = range(4)
NEAR = 1e-8
APART = 1e-4
STAY = {"blocks-stay": ("blocks",), "scale-stays": ("scale",), "both-stay": ("blocks", "scale")}


def draw_cases(rng):
    return [
        case(
            rng, "names", "Everything that is to be trained is known to the network, under its name", "names", depth=3
        ),
        case(rng, "a fresh network", "The scale starts at 0.5 in every channel", "fresh", "start-changed"),
        case(rng, "forward", "With given weights the outputs are what they were", "forward", "outputs-changed"),
        case(rng, "one epoch", "Four batches, one epoch: everything moves, and to where it should", "train"),
        case(
            rng,
            "a checkpoint",
            "Another network reads what was saved, gives the same outputs, and reads checkpoints from elsewhere",
            "checkpoint",
            "not-saved",
        ),
        case(rng, "deeper", "The names of a network of five blocks", "names", depth=5, public=False),
        case(
            rng, "three epochs", "Three epochs of a network of four blocks", "train", depth=4, epochs=3, public=False
        ),
        case(
            rng, "one block", "A network of one block, with a smaller rate", "train", depth=1, lr=0.02, public=False
        ),
    ]


def diagnose(inputs, got, expected):
    if inputs["ask"] == "names":
        return diagnose_names([int(known) for known in got["known"]], got["parameters"] >= expected["parameters"])
    if inputs["ask"] == "checkpoint" and not got["reads one from elsewhere"]:
        return "unreadable"
    if inputs["ask"] != "train":
        return None
    for mistake in STAY:
        if np.allclose(got["trained"], replay(inputs, mistake), rtol=NEAR, atol=NEAR):
            return mistake
    return None


def diagnose_names(known, as_many):
    """What is wrong with the blocks, or else with the scale. The answer begins with the scale, then stem and head.

    `as_many`: as many parameters are trained as should be, so what is not found has another name.
    """
    if as_many and UNKNOWN in known:
        return "names-changed"
    scale, blocks = known[0], known[5:]
    if any(found == KEPT for found in blocks) and blocks[0] == TRAINED:
        return "shared-block"
    if any(found != TRAINED for found in blocks):
        return "blocks-unknown"
    if scale != TRAINED:
        return {UNKNOWN: "scale-unknown", KEPT: "scale-is-kept", FROZEN: "scale-is-frozen"}[scale]
    return "names-changed"


def case(rng, name, idea, ask, finding=None, *, depth=2, epochs=1, lr=0.05, public=True):
    inputs = {"ask": ask, "gauges": 4, "width": 5, "depth": depth}
    shown = f"network = Network(gauges=4, width=5, depth={depth})\n"
    if ask == "train":
        inputs = draw_training(rng, inputs | {"epochs": epochs, "lr": lr, "momentum": 0.7})
        shown += f"train(network, batches, lr={lr}, momentum=0.7), {epochs} epoch(s), 4 batches of 6 rows"
    elif ask in ("forward", "checkpoint"):
        inputs = draw_numbers(rng, inputs)
        reload = "loaded.load_state_dict(network.state_dict())\nloaded(levels)"
        reload += "\n# and once more, from a checkpoint that has the names in the text and no others"
        shown += (
            "network(levels)" if ask == "forward" else f"loaded = Network(gauges=4, width=5, depth={depth})\n{reload}"
        )
    else:
        shown += "network.scale" if ask == "fresh" else LEGEND
    return {
        "name": name,
        "idea": idea,
        "finding": finding or ("blocks-unknown" if ask == "names" else "differs"),
        "public": public,
        "inputs": inputs,
        "shown": shown if public else "",
    }


LEGEND = """scale; stem.weight, stem.bias; head.weight, head.bias; blocks.0.weight, blocks.0.bias, ...
3: in named_parameters(), and trained   2: there, but without requires_grad
1: only in state_dict()                 0: the network does not know it"""


def draw_training(rng, inputs):
    """Training in which everything moves by enough to be seen."""
    while True:
        drawn = draw_numbers(rng, inputs)
        truth = replay(drawn)
        if all(np.abs(replay(drawn, mistake) - truth).max() > APART for mistake in STAY):
            return drawn


def draw_numbers(rng, inputs):
    numbers = np.random.default_rng(rng.getrandbits(64))
    gauges, width, depth = inputs["gauges"], inputs["width"], inputs["depth"]
    count = width + (gauges + 1) * width + (width + 1) + depth * (width + 1) * width
    return inputs | {
        "levels": numbers.normal(size=(4, 6, gauges)),
        "missing": numbers.normal(size=(4, 6)) + 1.0,
        "start": numbers.normal(size=count) * 0.5,
    }


def replay(inputs, mistake=None):
    """All weights after training, with some of them left where they were."""
    weights = read_weights(inputs)
    moving = [tensor for name, tensor in weights.items() if not name.startswith(STAY.get(mistake, ()))]
    for tensor in moving:
        tensor.requires_grad_()
    for _ in range(inputs["epochs"]):
        optimizer = torch.optim.SGD(moving, lr=inputs["lr"], momentum=inputs["momentum"])
        for levels, missing in zip(inputs["levels"], inputs["missing"], strict=True):
            loss = F.mse_loss(run(weights, inputs["depth"], torch.from_numpy(levels)), torch.from_numpy(missing))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return torch.cat([tensor.detach().flatten() for tensor in weights.values()]).numpy()


def read_weights(inputs):
    gauges, width = inputs["gauges"], inputs["width"]
    shapes = {"scale": (width,), "stem.weight": (width, gauges), "stem.bias": (width,)}
    shapes |= {"head.weight": (1, width), "head.bias": (1,)}
    for place in range(inputs["depth"]):
        shapes |= {f"blocks.{place}.weight": (width, width), f"blocks.{place}.bias": (width,)}
    start = torch.from_numpy(inputs["start"].copy())
    pieces = start.split([int(np.prod(shape)) for shape in shapes.values()])
    return {name: piece.clone().view(shape) for (name, shape), piece in zip(shapes.items(), pieces, strict=True)}


def run(weights, depth, levels):
    hidden = F.linear(levels, weights["stem.weight"], weights["stem.bias"])
    for place in range(depth):
        inner = F.linear(hidden, weights[f"blocks.{place}.weight"], weights[f"blocks.{place}.bias"])
        hidden = hidden + weights["scale"] * torch.tanh(inner)
    return F.linear(hidden, weights["head.weight"], weights["head.bias"]).squeeze(-1)
