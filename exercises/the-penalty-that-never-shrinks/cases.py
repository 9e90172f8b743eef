"""The loss, its gradients and whole trainings, replayed with every mistake that is known."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

NEAR = 1e-6
"""Coarser than the judge: a mistake that passes through float32 is still recognised."""
APART = 1e-3
WITHOUT_GRADIENT = "penalty-without-gradient"
MISTAKES = (
    WITHOUT_GRADIENT,
    "penalty-missing",
    "biases-too",
    "not-squared",
    "last-layer-only",
    "mean-for-sum",
    "doubled",
)
SIZES = [4, 5, 3]


def draw_cases(rng):
    return [
        loss_case(rng, "no penalty", "Strength 0: the fit alone", 0.0),
        loss_case(rng, "value and gradients", "The value of the loss, and the gradient of every parameter", 0.3),
        train_case(rng, "two epochs", "Three batches, two epochs: where the parameters end, and the log", 0.1),
        loss_case(rng, "a strong penalty", "The penalty outweighs the fit", 2.5, public=False),
        train_case(rng, "no penalty at all", "Training with strength 0", 0.0, public=False),
        train_case(rng, "strongly held", "Three epochs under a strong penalty", 0.4, epochs=3, public=False),
    ]


def diagnose(inputs, got, expected):
    if inputs["ask"] == "train" and near(got["parameters"], expected["parameters"]):
        return "log-changed"
    for mistake in MISTAKES if inputs["strength"] else ():
        wrong = answer(inputs, mistake)
        if all(near(got[name], wrong[name]) for name in wrong if name != "log"):
            return mistake
    return None


def near(got, wanted):
    return np.allclose(got, wanted, rtol=NEAR, atol=NEAR)


def loss_case(rng, name, idea, strength, *, public=True):
    inputs = draw_telling(rng, {"ask": "loss", "strength": strength}, batches=1)
    shown = f"loss = loss_fn(model, soil, harvest, strength={strength})\nloss.backward()\n{MODEL}"
    return case(name, idea, "loss-changed", public, inputs, shown)


def train_case(rng, name, idea, strength, *, epochs=2, public=True):
    inputs = draw_telling(rng, {"ask": "train", "strength": strength, "epochs": epochs, "lr": 0.05}, batches=3)
    shown = f"train(model, batches, lr=0.05, strength={strength}, epochs={epochs})\n3 batches of 6 rows; {MODEL}"
    return case(name, idea, "training-changed", public, inputs, shown)


MODEL = "4 measures, layers of 5 and 3 hidden units, one output"


def case(name, idea, finding, public, inputs, shown):
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": public,
        "inputs": inputs,
        "shown": shown if public else "",
    }


def draw_telling(rng, inputs, batches):
    """Data on which every known mistake shows."""
    while True:
        drawn = inputs | draw_data(rng, batches)
        if not inputs["strength"]:
            return drawn
        value = "gradients" if inputs["ask"] == "loss" else "parameters"
        truth = answer(drawn)
        wrongs = [answer(drawn, mistake) for mistake in MISTAKES]
        if all(np.abs(wrong[value] - truth[value]).max() > APART for wrong in wrongs):
            return drawn


def draw_data(rng, batches):
    numbers = np.random.default_rng(rng.getrandbits(64))
    count = sum(parameter.numel() for parameter in make_model().parameters())
    return {
        "sizes": SIZES,
        "soil": numbers.normal(size=(batches, 6, SIZES[0])),
        "harvest": numbers.normal(size=(batches, 6)) + 1.0,
        "start": numbers.normal(size=count) * 0.6,
    }


def make_model():
    layers = (
        nn.Linear(SIZES[0], SIZES[1]),
        nn.Tanh(),
        nn.Linear(SIZES[1], SIZES[2]),
        nn.Tanh(),
        nn.Linear(SIZES[2], 1),
    )
    return nn.Sequential(*layers).double()


def answer(inputs, mistake=None):
    """What one who makes `mistake` would answer."""
    model = make_model()
    nn.utils.vector_to_parameters(torch.from_numpy(inputs["start"].copy()), model.parameters())
    batches = list(zip(torch.from_numpy(inputs["soil"]), torch.from_numpy(inputs["harvest"]), strict=True))
    if inputs["ask"] == "loss":
        loss = compute_loss(model, batches[0], inputs["strength"], mistake)
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        flat = torch.cat([gradient.flatten() for gradient in gradients]).numpy()
        return {"loss": loss.item(), "gradients": flat}
    optimizer = torch.optim.SGD(model.parameters(), lr=inputs["lr"])
    for _ in range(inputs["epochs"]):
        for batch in batches:
            optimizer.zero_grad()
            compute_loss(model, batch, inputs["strength"], mistake).backward()
            optimizer.step()
    return {"parameters": nn.utils.parameters_to_vector(model.parameters()).detach().numpy()}


def compute_loss(model, batch, strength, mistake):
    soil, harvest = batch
    fit = F.mse_loss(model(soil).squeeze(-1), harvest)
    return fit + strength * compute_penalty(model, mistake)


def compute_penalty(model, mistake):
    weights = [parameter for parameter in model.parameters() if parameter.dim() == 2]
    match mistake:
        case "penalty-missing":
            return 0.0
        case "biases-too":
            weights = list(model.parameters())
        case "not-squared":
            return sum(weight.norm() for weight in weights)
        case "last-layer-only":
            weights = weights[-1:]
        case "mean-for-sum":
            return sum(weight.pow(2).mean() for weight in weights)
        case "doubled":
            return 2 * sum(weight.pow(2).sum() for weight in weights)
    total = sum(weight.pow(2).sum() for weight in weights)
    return total.item() if mistake == WITHOUT_GRADIENT else total
