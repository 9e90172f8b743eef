"""Epochs with spikes, short gradients and missing ones, replayed with every mistake that is known."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

NEAR = 1e-5
APART = 1e-3
OF_TRAINING = (
    "clipping-removed",
    "clipped-by-value",
    "clipped-each",
    "always-scaled",
    "left-over",
    "stale-at-start",
    "frozen-moved",
)
OF_LOG = ("clipped-norm", "sum-of-norms", "largest-norm", "no-root")


def draw_cases(rng):
    cases = [
        draw_epoch(rng, "nothing to clip", "Every gradient is shorter than the threshold", 1e4),
        draw_epoch(rng, "one spike", "Five steps, the third with targets that are far too large", 1.0, spike=2),
        draw_epoch(rng, "every step is clipped", "Every gradient is longer than the threshold", 0.05),
        draw_epoch(rng, "a spike at the end", "The last of five steps has a spike", 0.8, spike=4),
        draw_epoch(rng, "a frozen layer", "The first layer is frozen, and its .grad is None", 0.7, kind="frozen"),
        draw_epoch(rng, "an unused parameter", "One parameter gets no gradient", 0.7, kind="unused"),
        draw_epoch(rng, "used before", "The model's .grad holds numbers before the epoch", 0.6, kind="used"),
        draw_epoch(rng, "nothing to learn", "The gradient of the first step is zero", 0.5, kind="zero"),
        draw_epoch(
            rng,
            "one step",
            "A single step, with a frozen layer whose .grad holds numbers",
            0.5,
            kind="frozen, used",
            steps=1,
        ),
    ]
    for hidden in cases[3:]:
        hidden |= {"public": False, "shown": ""}
    return cases


def diagnose(inputs, got, expected):
    if near(got["parameters"], expected["parameters"]):
        logs = replay(inputs)["logs"]
        return next((mistake for mistake in OF_LOG if near(got["log"], logs[mistake])), "log-wrong")
    for mistake in OF_TRAINING:
        if near(got["parameters"], replay(inputs, mistake)["parameters"]):
            return mistake
    return None


def near(got, wanted):
    return got.shape == wanted.shape and np.allclose(got, wanted, rtol=NEAR, atol=NEAR / 10)


def draw_epoch(rng, name, idea, max_norm, *, kind="plain", steps=5, spike=None):
    while True:
        inputs = draw_data(rng, kind, steps, spike) | {"lr": 0.1, "max_norm": max_norm}
        if tells_mistakes_apart(inputs):
            break
    shown = f"train(model, batches, lr=0.1, max_norm={max_norm:g})\n{steps} batches of 6 rows"
    return {
        "name": name,
        "idea": idea,
        "finding": "differs",
        "public": True,
        "inputs": inputs,
        "shown": shown + (f"\nthe targets of batch {spike + 1} are 40 times too large" if spike else ""),
        "instead": {"wrong_shape": "one-per-step"},
        "labels": {
            "parameters": {"0.weight": [5, 4], "0.bias": [5], "2.weight": [1, 5], "2.bias": [1]},
            "log": {f"step {step}": [] for step in range(steps)},
        },
    }


def tells_mistakes_apart(inputs):
    """Whether the mistakes that this epoch can show give numbers of their own."""
    truth = replay(inputs)
    clipped = truth["log"] > inputs["max_norm"]
    logs = [wrong for mistake, wrong in truth["logs"].items() if mistake != "clipped-norm" or clipped.any()]
    if not all(np.abs(wrong - truth["log"]).max() > APART for wrong in logs):
        return False
    if inputs["max_norm"] > 100 or not clipped.any():
        return not clipped.any() and inputs["max_norm"] > 100
    wrongs = {mistake: replay(inputs, mistake)["parameters"] for mistake in OF_TRAINING}
    if clipped.all():
        del wrongs["always-scaled"]
    if len(clipped) == 1:
        del wrongs["left-over"]
    if inputs["kind"] not in ("used", "frozen, used"):
        del wrongs["stale-at-start"]
    if inputs["kind"] != "frozen, used":
        del wrongs["frozen-moved"]
    return all(np.abs(wrong - truth["parameters"]).max() > APART for wrong in wrongs.values())


def draw_data(rng, kind, steps, spike):
    numbers = np.random.default_rng(rng.getrandbits(64))
    inflow = numbers.normal(size=(steps, 6)) + 0.5
    if spike is not None:
        inflow[spike] *= 40
    start = numbers.normal(size=4 * 5 + 5 + 5 + 1) * 0.5
    if kind == "zero":  # the last layer answers 0, and 0 is asked for
        start[-6:] = 0
        inflow[0] = 0
    return {
        "kind": kind,
        "rain": numbers.normal(size=(steps, 6, 4)),
        "inflow": inflow,
        "start": start,
        "left_over": numbers.normal(size=start.size),
    }


def make_model(inputs):
    """As in probe.py, written a second time: what judges shares no code with what runs beside the learner's."""
    model = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 1)).double()
    nn.utils.vector_to_parameters(torch.from_numpy(inputs["start"].copy()), model.parameters())
    if inputs["kind"] in ("frozen", "frozen, used"):
        model[0].requires_grad_(False)
    if inputs["kind"] in ("used", "frozen, used"):
        sizes = [parameter.numel() for parameter in model.parameters()]
        pieces = torch.from_numpy(inputs["left_over"].copy()).split(sizes)
        for parameter, piece in zip(model.parameters(), pieces, strict=True):
            parameter.grad = piece.view_as(parameter)
    return model


def replay(inputs, mistake=None):
    """The parameters, the right log, and the log of each mistake in it, after an epoch with `mistake`."""
    model = make_model(inputs)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    cleared = trained if mistake == "frozen-moved" else list(model.parameters())
    moved = [p for p in model.parameters() if p.requires_grad or (mistake == "frozen-moved" and p.grad is not None)]
    norms = []
    for step, (rain, inflow) in enumerate(zip(inputs["rain"], inputs["inflow"], strict=True)):
        if mistake != "left-over" and not (mistake == "stale-at-start" and step == 0):
            for parameter in cleared:
                parameter.grad = None
        F.mse_loss(model(torch.from_numpy(rain)).squeeze(-1), torch.from_numpy(inflow)).backward()
        norms.append([parameter.grad.norm().item() for parameter in moved])
        total = np.linalg.norm(norms[-1])
        with torch.no_grad():
            for parameter in moved:
                parameter -= inputs["lr"] * clip(parameter.grad, total, inputs["max_norm"], mistake)
    norms = np.array(norms)
    total = np.linalg.norm(norms, axis=1)
    logs = {
        "clipped-norm": np.minimum(total, inputs["max_norm"]),
        "sum-of-norms": norms.sum(axis=1),
        "largest-norm": norms.max(axis=1),
        "no-root": total**2,
    }
    return {"parameters": flatten(model.parameters()), "log": total, "logs": logs}


def clip(gradient, total, max_norm, mistake):
    match mistake:
        case "clipping-removed":
            return gradient
        case "clipped-by-value":
            return gradient.clamp(-max_norm, max_norm)
        case "clipped-each":
            return gradient * min(1.0, max_norm / (gradient.norm().item() + 1e-6))
        case "always-scaled":
            return gradient * (max_norm / (total + 1e-6))
    return gradient * min(1.0, max_norm / (total + 1e-6))


def flatten(parameters):
    return torch.cat([parameter.detach().flatten() for parameter in parameters]).numpy()
