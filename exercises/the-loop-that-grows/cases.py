"""Small trainings for the weights and the log, then two long ones, whose memory the kernel measures.

A unit is 1 MiB, which is the size of one batch's output in a measured case. The same budget holds for both lengths,
so memory that grows by half a unit per step fails in the longer one. Measured: 5 to 10 without a leak.
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

MOST_UNITS = 32
LARGE = (2048, 64, 4)
NEAR = 1e-8
ABSOLUTE, RELATIVE = 1e-11, 1e-9  # as in exercise.toml
APART = 1e-4
ROWS, WIDTH, HIDDEN = 5, 4, 3
TRAINED_WRONGLY = ("error-in-loss", "never-cleared")


def draw_cases(rng):
    cases = [
        small(rng, "three steps", "The weights and the log after three steps", steps=3),
        small(rng, "used before", "Gradients from before are in `.grad`", steps=2, left_over=True),
        measured(rng, "36 steps", "Thirty-six steps, within the budget", 36),
        small(rng, "no step", "There is no batch", "no-batch", steps=0),
        small(rng, "one step", "The first entry of the log", "smoothed-wrong", steps=1),
        small(rng, "without a past", "A decay of 0: the last error alone", "smoothed-wrong", steps=3, decay=0.0),
        small(rng, "seven steps", "Seven steps, another rate, another decay", steps=7, lr=0.2, decay=0.6),
        small(rng, "trained twice", "The same model is trained again", "second-training", steps=2, trainings=2),
        measured(rng, "60 steps", "More steps, within the same budget", 60),
    ]
    for hidden in cases[3:]:
        hidden |= {"public": False, "shown": ""}
    return cases


def small(rng, name, idea, finding="training-changed", *, steps, lr=0.05, decay=0.8, left_over=False, trainings=1):
    """A training in which every mistake that `diagnose` knows shows."""
    while True:
        inputs = draw_inputs(rng, steps, left_over) | {"lr": lr, "decay": decay, "trainings": trainings}
        if steps < 2 or can_tell(inputs):
            break
    shown = f"train(model, batches, lr={lr}, decay={decay})\n{steps} batches of {ROWS} rows and {WIDTH} columns"
    shown += "\nevery .grad of the model holds numbers already" if left_over else ""
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": True,
        "inputs": inputs,
        "shown": shown,
        "instead": {"wrong_shape": "no-batch" if not steps else "one-per-step"},
    }


def draw_inputs(rng, steps, left_over):
    numbers = np.random.default_rng(rng.getrandbits(64))
    count = 2 * WIDTH * HIDDEN + WIDTH + HIDDEN
    clean = numbers.normal(size=(steps, ROWS, WIDTH))
    inputs = {
        "width": WIDTH,
        "hidden": HIDDEN,
        "clean": clean,
        "noisy": clean + 0.4 * numbers.normal(size=clean.shape),
        "start": numbers.normal(size=count) * 0.6,
    }
    return inputs | ({"left_over": numbers.normal(size=count)} if left_over else {})


def measured(rng, name, idea, steps):
    rows, width, _ = LARGE
    return {
        "name": name,
        "idea": idea,
        "finding": "training-changed",
        "public": True,
        "inputs": {
            "seed": rng.getrandbits(40),
            "large": list(LARGE),
            "steps": steps,
            "lr": 0.5,
            "decay": 0.9,
            "trainings": 1,
        },
        "shown": f"train(model, batches, lr=0.5, decay=0.9)  # {steps} batches of {rows} rows and {width} columns",
        "instead": {"wrong_shape": "one-per-step"},
        "peak": {"unit_bytes": 1 << 20, "most_units": MOST_UNITS},
    }


def can_tell(inputs):
    weights, errors = replay(inputs)
    wrongs = [replay(inputs, mistake)[0] for mistake in TRAINED_WRONGLY]
    smoothed = smooth(errors, inputs["decay"])
    same_without_past = ("last-error", "starts-at-first") if inputs["decay"] == 0 else ()
    others = [value for code, value in imagine_smoothed(inputs, errors) if code not in same_without_past]
    trained = all(np.abs(wrong - weights).max() > APART for wrong in wrongs)
    return trained and all(abs(other - smoothed) > APART for other in others)


def replay(inputs, mistake=None):
    """The weights after one training, and the error of each step, as one who makes `mistake` would have them."""
    model = load(inputs)
    parameters = list(model.parameters())
    optimizer = torch.optim.SGD(parameters, lr=inputs["lr"])
    errors = []
    for noisy, clean in zip(torch.from_numpy(inputs["noisy"]), torch.from_numpy(inputs["clean"]), strict=True):
        restored = model(noisy)
        error = (restored - clean).abs().mean()
        loss = F.mse_loss(restored, clean)
        if mistake != "never-cleared":
            optimizer.zero_grad()
        (loss + error if mistake == "error-in-loss" else loss).backward()
        optimizer.step()
        if mistake == "error-after-step":
            error = (model(noisy) - clean).abs().mean()
        errors.append(error.item())
    return nn.utils.parameters_to_vector(parameters).detach().numpy(), errors


def load(inputs):
    width, hidden = inputs["width"], inputs["hidden"]
    model = nn.Sequential(nn.Linear(width, hidden), nn.Tanh(), nn.Linear(hidden, width)).double()
    nn.utils.vector_to_parameters(torch.from_numpy(inputs["start"].copy()), model.parameters())
    if "left_over" in inputs:
        pieces = torch.from_numpy(inputs["left_over"]).split([p.numel() for p in model.parameters()])
        for parameter, left in zip(model.parameters(), pieces, strict=True):
            parameter.grad = left.view_as(parameter).clone()
    return model


def smooth(errors, decay, first=0.0):
    smoothed = first
    for error in errors:
        smoothed = decay * smoothed + (1 - decay) * error
    return smoothed


def imagine_smoothed(inputs, errors):
    """What the smoothed error is for those who read its definition in another way."""
    yield "error-after-step", smooth(replay(inputs, "error-after-step")[1], inputs["decay"])
    yield "starts-at-first", smooth(errors[1:], inputs["decay"], errors[0])
    yield "plain-mean", float(np.mean(errors))
    yield "last-error", errors[-1]
    yield "decay-swapped", smooth(errors, 1 - inputs["decay"])


def diagnose(inputs, got, expected):
    """What the log or the model shows first: the weights, then the losses, the sizes, the smoothed error."""
    large = "large" in inputs
    if not is_right(got["weights"], expected["weights"]):
        return None if large or inputs["trainings"] > 1 else name_training(inputs, got["weights"])
    if inputs["trainings"] == 1:
        for name, finding in (("losses", "losses-wrong"), ("sizes", "sizes-wrong")):
            if not is_right(got[name], expected[name]):
                return finding
        if not is_right(got["smoothed error"], expected["smoothed error"]):
            return (
                "smoothed-wrong"
                if large or not len(inputs["clean"])
                else name_smoothed(inputs, got["smoothed error"])
            )
    if got["hooks left"]:
        return "hook-left"
    return None if got["recording"] else "recording-off"


def name_training(inputs, weights):
    if is_near(weights, inputs["start"]):
        return "not-trained"
    return next((code for code in TRAINED_WRONGLY if is_near(weights, replay(inputs, code)[0])), "training-changed")


def name_smoothed(inputs, smoothed):
    imagined = imagine_smoothed(inputs, replay(inputs)[1])
    return next((code for code, value in imagined if is_near(smoothed, value)), "smoothed-wrong")


def is_right(got, wanted):
    return np.shape(got) == np.shape(wanted) and np.allclose(got, wanted, rtol=RELATIVE, atol=ABSOLUTE)


def is_near(got, wanted):
    return np.shape(got) == np.shape(wanted) and np.allclose(got, wanted, rtol=NEAR, atol=NEAR)
