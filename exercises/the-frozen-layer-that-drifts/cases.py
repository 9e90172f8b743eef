"""Trainings that freeze their first layer on the way, replayed with every mistake that is known."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

NEAR = 1e-7
APART = 1e-4
MISTAKES = (
    "still-moves",
    "stale-gradient",
    "all-frozen",
    "frozen-too-early",
    "never-frozen",
    "other-layer",
    "one-late",
    "state-lost",
    "left-over",
    "stale-at-start",
)
BETAS, EPSILON = (0.9, 0.999), 1e-8


def draw_cases(rng):
    cases = [
        draw_training(rng, "three and three", "Six steps, and the layer is frozen after three of them", 6, 3),
        draw_training(rng, "never frozen", "Three steps, and freeze_at is beyond them", 3, 9),
        draw_training(
            rng, "several layers", "The first entry of the model consists of three layers", 5, 2, deep=True
        ),
        draw_training(rng, "frozen at once", "freeze_at is 0", 4, 0),
        draw_training(rng, "used before", "The model's .grad holds numbers before the first step", 5, 2, stale=True),
        draw_training(rng, "used and frozen", ".grad holds numbers, and freeze_at is 0", 4, 0, stale=True),
        draw_training(rng, "no decay", "Without weight decay", 7, 3, decay=0.0),
        draw_training(rng, "only the last step", "The layer is frozen in the last step alone", 5, 4),
    ]
    for case in cases:
        case["labels"] = label(case["inputs"])
    for hidden in cases[3:]:
        hidden |= {"public": False, "shown": ""}
    return cases


def label(inputs):
    first = {"0.0.weight": [3, 4], "0.0.bias": [3], "0.2.weight": [3, 3], "0.2.bias": [3]}
    first = first if inputs["deep"] else {"0.weight": [3, 4], "0.bias": [3]}
    losses = {f"step {step}": [] for step in range(len(inputs["wind"]))}
    return {"parameters": {**first, "2.weight": [1, 3], "2.bias": [1]}, "losses": losses}


def diagnose(inputs, got, expected):
    if near(got["parameters"], expected["parameters"]):
        return "log-wrong"
    for mistake in find_mistakes(inputs):
        if near(got["parameters"], replay(inputs, mistake)):
            return mistake
    return None


def find_mistakes(inputs):
    """Those that this case can show."""
    steps, freeze_at = len(inputs["wind"]), inputs["freeze_at"]
    if freeze_at >= steps:
        return ["frozen-too-early"]
    hidden = set() if inputs["stale"] else {"stale-at-start"}
    if freeze_at == 0:
        hidden |= {"frozen-too-early", "state-lost"}
        hidden |= set() if inputs["stale"] else {"still-moves", "stale-gradient"}
    if freeze_at == 0 and inputs["stale"]:
        hidden |= {"stale-gradient"}
    return [mistake for mistake in MISTAKES if mistake not in hidden]


def near(got, wanted):
    return got.shape == wanted.shape and np.allclose(got, wanted, rtol=NEAR, atol=NEAR)


def draw_training(rng, name, idea, steps, freeze_at, *, deep=False, stale=False, decay=0.2):
    while True:
        numbers = np.random.default_rng(rng.getrandbits(64))
        size = (4 * 3 + 3 + 3 * 3 + 3 if deep else 4 * 3 + 3) + 3 + 1
        inputs = {
            "wind": numbers.normal(size=(steps, 6, 4)),
            "power": numbers.normal(size=(steps, 6)) + 0.5,
            "start": numbers.normal(size=size) * 0.7,
            "left_over": numbers.normal(size=size),
            "freeze_at": freeze_at,
            "lr": 0.05,
            "weight_decay": decay,
            "deep": deep,
            "stale": stale,
        }
        truth = replay(inputs)
        if all(np.abs(replay(inputs, mistake) - truth).max() > APART for mistake in find_mistakes(inputs)):
            break
    call = f"finetune(model, batches, freeze_at={freeze_at}, lr=0.05, weight_decay={decay})"
    first = "nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 3))" if deep else "nn.Linear(4, 3)"
    return {
        "name": name,
        "idea": idea,
        "finding": "differs",
        "public": True,
        "inputs": inputs,
        "shown": f"{call}\n# {steps} batches of 6 rows\n# model = nn.Sequential({first}, nn.Tanh(), nn.Linear(3, 1))",
        "instead": {"wrong_shape": "log-wrong"},
    }


def make_model(inputs):
    """As in probe.py, written a second time: what judges shares no code with what runs beside the learner's."""
    first = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 3)) if inputs["deep"] else nn.Linear(4, 3)
    model = nn.Sequential(first, nn.Tanh(), nn.Linear(3, 1)).double()
    nn.utils.vector_to_parameters(torch.from_numpy(inputs["start"].copy()), model.parameters())
    return model


def replay(inputs, mistake=None):
    """The parameters after the training, with AdamW by its formulas."""
    model = make_model(inputs)
    parameters = list(model.parameters())
    of_first = len(list(model[0].parameters()))
    states = [start_state() for _ in parameters]
    held = split(inputs["left_over"], parameters) if inputs["stale"] else [None] * len(parameters)
    for step, (wind, power) in enumerate(zip(inputs["wind"], inputs["power"], strict=True)):
        loss = F.mse_loss(model(torch.from_numpy(wind)).squeeze(-1), torch.from_numpy(power))
        new = torch.autograd.grad(loss, parameters)
        if mistake == "state-lost" and step == inputs["freeze_at"]:
            states = [start_state() for _ in parameters]
        for place, parameter in enumerate(parameters):
            frozen = is_frozen(place < of_first, step, inputs["freeze_at"], mistake)
            gradient = choose_gradient(new[place], held[place], frozen, step, mistake)
            if gradient is not None:
                held[place] = gradient
                take_step(parameter, gradient, states[place], inputs["lr"], inputs["weight_decay"])
    return nn.utils.parameters_to_vector(parameters).detach().numpy()


def start_state():
    return {"count": 0, "mean": 0.0, "square": 0.0}


def split(numbers, parameters):
    pieces = torch.from_numpy(numbers).split([parameter.numel() for parameter in parameters])
    return [piece.view_as(parameter) for piece, parameter in zip(pieces, parameters, strict=True)]


def choose_gradient(new, held, frozen, step, mistake):
    """What `.grad` holds in this step; None leaves the parameter as it is."""
    if frozen:
        zeros = torch.zeros_like(new) if held is not None else None
        return {"still-moves": zeros, "stale-gradient": held}.get(mistake)
    keeps = mistake == "left-over" or (mistake == "stale-at-start" and step == 0)
    return new + held if keeps and held is not None else new


def is_frozen(is_first, step, freeze_at, mistake):
    match mistake:
        case "all-frozen":
            return step >= freeze_at
        case "frozen-too-early":
            return is_first
        case "never-frozen":
            return False
        case "other-layer":
            return not is_first and step >= freeze_at
        case "one-late":
            return is_first and step > freeze_at
    return is_first and step >= freeze_at


def take_step(parameter, gradient, state, lr, weight_decay):
    """AdamW as in Loshchilov and Hutter, Decoupled weight decay regularization (2019), with PyTorch's defaults."""
    state["count"] += 1
    state["mean"] = BETAS[0] * state["mean"] + (1 - BETAS[0]) * gradient
    state["square"] = BETAS[1] * state["square"] + (1 - BETAS[1]) * gradient**2
    mean = state["mean"] / (1 - BETAS[0] ** state["count"])
    root = (state["square"] / (1 - BETAS[1] ** state["count"])).sqrt()
    with torch.no_grad():
        parameter.mul_(1 - lr * weight_decay).sub_(lr * mean / (root + EPSILON))
