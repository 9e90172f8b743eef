"""Epochs in groups of parts, replayed with every mistake that is known; the last group may be short."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

NEAR = 1e-8
APART = 1e-4
WEIGHTS = {
    "summed": lambda group, rows, accumulate: 1.0,
    "short-group": lambda group, rows, accumulate: 1 / accumulate,
    "divided-by-rows": lambda group, rows, accumulate: 1 / (group * rows),
    "rows-alone": lambda group, rows, accumulate: 1 / rows,
}
"""How mistakes weigh the loss of a part: by the parts of its group, its rows, and what a step is to have."""
SAME_AS = {
    "rows-alone": "divided-by-rows",
    "last-part-divided": "last-part-only",
    "stepped-early-divided": "stepped-early",
}
MISTAKES = (
    *WEIGHTS,
    "last-part-only",
    "last-part-divided",
    "stepped-early",
    "stepped-early-divided",
    "rate-divided",
    "left-over",
    "no-last-step",
)


def draw_cases(rng):
    return [
        run(
            rng,
            "no accumulation",
            "One part a step: nothing is added up, and this works as it is",
            parts=3,
            accumulate=1,
        ),
        run(rng, "groups of three", "Six parts, three of them a step", parts=6, accumulate=3),
        run(
            rng,
            "a short last group",
            "Seven parts, three a step: the last step has one part alone",
            parts=7,
            accumulate=3,
        ),
        run(
            rng,
            "groups of four",
            "Eight parts, four a step, with momentum",
            parts=8,
            accumulate=4,
            momentum=0.6,
            public=False,
        ),
        run(rng, "one large group", "Five parts, all of them in one step", parts=5, accumulate=5, public=False),
        run(
            rng, "fewer than a group", "Two parts, where a step would have four", parts=2, accumulate=4, public=False
        ),
        run(
            rng,
            "a strong pull to zero",
            "Eleven parts, four a step, with momentum and a large weight decay",
            parts=11,
            accumulate=4,
            momentum=0.4,
            weight_decay=0.3,
            public=False,
        ),
        run(
            rng, "used before", "The model's .grad holds numbers before the epoch", parts=5, accumulate=2, stale=True
        ),
    ]


def diagnose(inputs, got, expected):
    near = lambda a, b: a.shape == b.shape and np.allclose(a, b, rtol=NEAR, atol=NEAR)  # noqa: E731
    if not got["parts as they were"]:
        return "parts-changed"
    if near(got["parameters"], expected["parameters"]):
        return "log-changed"
    for mistake in MISTAKES:
        if can_show(inputs, mistake) and near(got["parameters"], replay(inputs, mistake)):
            return SAME_AS.get(mistake, mistake)
    return None


def run(rng, name, idea, *, parts, accumulate, momentum=0.0, weight_decay=0.05, public=True, stale=False):
    """An epoch in which every known mistake shows that can."""
    while True:
        inputs = draw_epoch(rng, parts)
        inputs |= {"lr": 0.05, "momentum": momentum, "weight_decay": weight_decay, "accumulate": accumulate}
        inputs |= {"left_over": np.random.default_rng(rng.getrandbits(64)).normal(size=31)} if stale else {}
        truth = replay(inputs)
        wrongs = [replay(inputs, mistake) for mistake in MISTAKES if can_show(inputs, mistake)]
        if all(np.abs(wrong - truth).max() > APART for wrong in wrongs):
            break
    settings = ", ".join(f"{key}={inputs[key]}" for key in ("lr", "momentum", "weight_decay", "accumulate"))
    shown = f"train(model, parts, {settings})\n{parts} parts of 6 rows, 4 features, 5 hidden units"
    shown += "\nevery .grad of the model holds numbers already" if stale else ""
    return {
        "name": name,
        "idea": idea,
        "finding": "stale-at-start" if stale else "differs",
        "public": public and not stale,
        "inputs": inputs,
        "shown": shown if public and not stale else "",
        "labels": {
            "parameters": {"0.weight": [5, 4], "0.bias": [5], "2.weight": [1, 5], "2.bias": [1]},
            "log": {f"step {step}": [] for step in range(-(-parts // accumulate))},
        },
        "instead": {"wrong_shape": "log-length"},
    }


def draw_epoch(rng, parts):
    numbers = np.random.default_rng(rng.getrandbits(64))
    return {
        "sound": numbers.normal(size=(parts, 6, 4)),
        "power": numbers.normal(size=(parts, 6)) + 1.0,
        "start": numbers.normal(size=4 * 5 + 5 + 5 + 1) * 0.5,
        "hidden": 5,
    }


def can_show(inputs, mistake):
    """Whether the mistake makes a difference to this epoch."""
    parts, accumulate = len(inputs["sound"]), inputs["accumulate"]
    steps = -(-parts // accumulate)
    if mistake in ("divided-by-rows", "rows-alone"):
        return True
    if mistake in ("short-group", "no-last-step"):
        return parts % accumulate != 0
    if mistake == "left-over":
        return steps > 1
    return min(parts, accumulate) > 1


def replay(inputs, mistake=None):
    """The parameters after the epoch as one who makes `mistake` would have them."""
    features, hidden = inputs["sound"].shape[2], inputs["hidden"]
    model = nn.Sequential(nn.Linear(features, hidden), nn.Tanh(), nn.Linear(hidden, 1)).double()
    nn.utils.vector_to_parameters(torch.from_numpy(inputs["start"].copy()), model.parameters())
    accumulate = inputs["accumulate"]
    rate = inputs["lr"] / (accumulate if mistake == "rate-divided" else 1)
    settings = {"momentum": inputs["momentum"], "weight_decay": inputs["weight_decay"]}
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, **settings)
    for first in range(0, len(inputs["sound"]), accumulate):
        group = slice(first, first + accumulate)
        if mistake == "no-last-step" and len(inputs["sound"][group]) < accumulate:
            break
        follow_group(model, optimizer, inputs["sound"][group], inputs["power"][group], accumulate, mistake)
    return nn.utils.parameters_to_vector(model.parameters()).detach().numpy()


def follow_group(model, optimizer, sounds, powers, accumulate, mistake):
    """One step for a group of parts, or what a mistake makes of it."""
    weigh = WEIGHTS.get("summed" if mistake in ("last-part-only", "stepped-early", "rate-divided") else mistake)
    weight = weigh(len(sounds), len(sounds[0]), accumulate) if weigh else 1 / len(sounds)
    if mistake != "left-over":
        optimizer.zero_grad()
    for sound, power in zip(sounds, powers, strict=True):
        if mistake in ("last-part-only", "last-part-divided"):
            optimizer.zero_grad()
        loss = F.mse_loss(model(torch.from_numpy(sound)).squeeze(-1), torch.from_numpy(power))
        (loss * weight).backward()
        if mistake in ("stepped-early", "stepped-early-divided"):
            optimizer.step()
            optimizer.zero_grad()
    if mistake not in ("stepped-early", "stepped-early-divided"):
        optimizer.step()
