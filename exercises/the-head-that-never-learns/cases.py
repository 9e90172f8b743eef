"""Trainings of a model with a new head, replayed by hand with every mistake that is known."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

NEAR = 1e-7
APART = 1e-4
FEATURES, HIDDEN, ROWS = 4, 3, 6
MISTAKES = (
    "head-not-trained",
    "body-not-trained",
    "head-settings",
    "momentum-lost",
    "frozen-trained",
    "frozen-moved",
    "stale-at-start",
    "left-over",
    "head-left-over",
)


def draw_cases(rng):
    cases = [
        draw_training(rng, "other birds", "The new head has another number of outputs than the old one", 4),
        draw_training(rng, "as many birds", "Both heads have the same shape", 4, old_species=3),
        draw_training(rng, "a frozen layer", "The first layer of the body is frozen", 4, frozen=True),
        draw_training(rng, "a deep head", "The new head consists of three layers", 5, deep=True),
        draw_training(rng, "used before", "All parameters hold a gradient before the first step", 4, stale=True),
        draw_training(rng, "no momentum", "SGD without momentum and weight decay", 5, momentum=0.0, decay=0.0),
        draw_training(
            rng, "one step", "One batch, gradients of before, and a frozen layer", 1, stale=True, frozen=True
        ),
        draw_training(rng, "long", "Twelve batches, a frozen layer and a deep head", 12, deep=True, frozen=True),
    ]
    for hidden in cases[3:]:
        hidden |= {"public": False, "shown": ""}
    return cases


def diagnose(inputs, got, expected):
    if not got["installed"]:
        return "not-installed"
    found = {name: got[name] for name in ("body", "new head")}
    if near(found, expected):
        return "log-wrong" if near({"old head": got["old head"]}, expected) else "old-head-moves"
    mistakes = find_mistakes(inputs)
    known = next((mistake for mistake in mistakes if near(found, replay(inputs, mistake))), None)
    if known is None and near({"new head": got["new head"]}, start(inputs)) and not near(found, start(inputs)):
        return "head-not-trained"  # the body was trained with another head than the one given
    return known


def find_mistakes(inputs):
    """Those that this case can show."""
    stale, several = inputs["stale"], len(inputs["calls"]) > 1
    plain = not inputs["momentum"] and not inputs["weight_decay"]
    shows = {
        "head-settings": not plain,
        "momentum-lost": several and inputs["momentum"] > 0,
        "frozen-trained": inputs["frozen"],
        "frozen-moved": inputs["frozen"] and stale,
        "stale-at-start": stale,
        "left-over": several,
        "head-left-over": several or stale,
    }
    return [mistake for mistake in MISTAKES if shows.get(mistake, True)]


def near(got, wanted):
    return all(np.allclose(got[name], wanted[name], rtol=NEAR, atol=NEAR) for name in got)


def draw_training(rng, name, idea, steps, *, species=3, old_species=5, momentum=0.8, decay=0.1, **kind):
    kind = {"frozen": False, "deep": False, "stale": False} | kind
    while True:
        numbers = np.random.default_rng(rng.getrandbits(64))
        size = sum(len(flatten(part)) for part in build(kind | {"species": species, "old_species": old_species}))
        inputs = kind | {
            "calls": numbers.normal(size=(steps, ROWS, FEATURES)),
            "birds": numbers.integers(0, species, size=(steps, ROWS)),
            "start": numbers.normal(size=size) * 0.7,
            "left_over": numbers.normal(size=size),
            "hidden": HIDDEN,
            "species": species,
            "old_species": old_species,
            "lr": 0.1,
            "momentum": momentum,
            "weight_decay": decay,
        }
        truth = replay(inputs)
        if all(is_apart(replay(inputs, mistake), truth) for mistake in find_mistakes(inputs)):
            break
    return {
        "name": name,
        "idea": idea,
        "finding": "differs",
        "public": True,
        "inputs": inputs,
        "shown": show(inputs),
        "instead": {"wrong_shape": "log-wrong"},
        "labels": label(inputs),
    }


def label(inputs):
    body, old, new = build(inputs)
    parts = {"body": (body, "body."), "new head": (new, "head."), "old head": (old, "head.")}
    named = {
        answer: {prefix + name: list(parameter.shape) for name, parameter in part.named_parameters()}
        for answer, (part, prefix) in parts.items()
    }
    return named | {"losses": {f"step {step}": [] for step in range(len(inputs["calls"]))}}


def is_apart(wrong, truth):
    return max(np.abs(wrong[name] - truth[name]).max() for name in wrong) > APART


def show(inputs):
    steps, species = len(inputs["calls"]), inputs["species"]
    lines = [
        f"adapt(model, head, batches, lr=0.1, momentum={inputs['momentum']}, weight_decay={inputs['weight_decay']})",
        f"# {steps} batches of {ROWS} rows",
        f"# the old head has {inputs['old_species']} outputs, the new one {species}",
    ]
    return "\n".join(lines + ["# model.body[0] is frozen"] * inputs["frozen"])


def build(inputs):
    """As in probe.py, written a second time: what judges shares no code with what runs beside the learner's."""
    body = nn.Sequential(nn.Linear(FEATURES, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, HIDDEN), nn.Tanh())
    new = nn.Linear(HIDDEN, inputs["species"])
    if inputs["deep"]:
        new = nn.Sequential(nn.Linear(HIDDEN, 2), nn.Tanh(), nn.Linear(2, inputs["species"]))
    return body.double(), nn.Linear(HIDDEN, inputs["old_species"]).double(), new.double()


def replay(inputs, mistake=None):
    """Where the body and the new head end, with SGD by its formulas."""
    body, old, new = build(inputs)
    parts = [*body.parameters(), *old.parameters(), *new.parameters()]
    nn.utils.vector_to_parameters(torch.from_numpy(inputs["start"].copy()), parts)
    pieces = torch.from_numpy(inputs["left_over"]).split([part.numel() for part in parts])
    trained = [*body.parameters(), *new.parameters()]
    held = {id(part): piece.view_as(part) for part, piece in zip(parts, pieces, strict=True) if inputs["stale"]}
    heads = {id(part) for part in new.parameters()}
    first = {id(part) for part in body[0].parameters()}
    still = {id(part) for part in choose_still(body, new, inputs["frozen"], mistake)}
    buffers = {}
    for step, (calls, birds) in enumerate(zip(inputs["calls"], inputs["birds"], strict=True)):
        loss = F.cross_entropy(new(body(torch.from_numpy(calls))), torch.from_numpy(birds))
        gradients = torch.autograd.grad(loss, trained)
        for part, gradient in zip(trained, gradients, strict=True):
            is_head = id(part) in heads
            if keeps(mistake, step, is_head) and id(part) in held:
                gradient = gradient + held[id(part)]
            if mistake == "frozen-moved" and id(part) in first:
                gradient = held[id(part)]
            held[id(part)] = gradient
            if id(part) in still:
                continue
            plain = mistake == "head-settings" and is_head
            momentum = 0.0 if plain or mistake == "momentum-lost" else inputs["momentum"]
            decay = 0.0 if plain else inputs["weight_decay"]
            step_of = gradient + decay * part.detach() + momentum * buffers.get(id(part), 0.0)
            buffers[id(part)] = step_of
            part.data -= inputs["lr"] * step_of
    return {"body": flatten(body), "new head": flatten(new)}


def start(inputs):
    """Where body and new head are before the first step."""
    return replay(inputs | {name: inputs[name][:0] for name in ("calls", "birds")})


def choose_still(body, new, frozen, mistake):
    """The parameters that keep their values."""
    thaws = mistake in ("frozen-trained", "frozen-moved")
    still = list(body[0].parameters()) if frozen and not thaws else []
    if mistake == "head-not-trained":
        still += new.parameters()
    return still + list(body.parameters()) if mistake == "body-not-trained" else still


def keeps(mistake, step, is_head):
    """Does this step add what `.grad` held before it?"""
    if mistake == "head-left-over":
        return is_head
    return mistake == "left-over" or (mistake == "stale-at-start" and step == 0)


def flatten(module):
    return torch.cat([parameter.detach().flatten() for parameter in module.parameters()]).numpy()
