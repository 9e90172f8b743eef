"""The loss, its gradients and whole trainings, replayed with every known mistake."""

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
OF_MIXED = (
    *MISTAKES,
    "matrices-only",
    "linears-only",
    "weight-anywhere",
    "shared-twice",
    "after-a-dot",
    "whole-last-part",
)
"""What shows only where weights are more than the matrices of linear layers."""
NAMED = {
    "weight-anywhere": lambda name: "weight" in name,
    "after-a-dot": lambda name: name.endswith(".weight"),
    "whole-last-part": lambda name: name.split(".")[-1] == "weight",
}
"""How mistakes tell by its name whether a parameter is a weight."""
SAME_AS = {"after-a-dot": "name-overlooked", "whole-last-part": "name-overlooked"}
SIZES = [4, 5, 3]


def draw_cases(rng):
    return [
        loss_case(rng, "no penalty", "Strength 0: the fit alone", 0.0),
        loss_case(rng, "value and gradients", "The value of the loss, and the gradient of every parameter", 0.3),
        loss_case(rng, "another model", "A model with a norm layer and weights of its own", 0.3, model="mixed"),
        train_case(rng, "two epochs", "Three batches, two epochs: the final parameters, and the log", 0.1),
        loss_case(rng, "a strong penalty", "The penalty outweighs the fit", 2.5, public=False),
        loss_case(rng, "two losses", "Two losses, then one backward pass through both", 0.7, batches=2, public=False),
        train_case(rng, "no penalty at all", "Training with strength 0", 0.0, public=False),
        train_case(rng, "strongly held", "Three epochs under a strong penalty", 0.4, epochs=3, public=False),
        train_case(rng, "another training", "Training a model with a norm layer", 0.2, model="mixed", public=False),
    ]


def diagnose(inputs, got, expected):
    if not got["data unchanged"]:
        return "writes-into-data"
    if inputs["ask"] == "train" and near(got["parameters"], expected["parameters"]):
        return "log-changed"
    for mistake in find_mistakes(inputs):
        wrong = answer(inputs, mistake)
        if all(near(got[name], wrong[name]) for name in wrong):
            return SAME_AS.get(mistake, mistake)
    return None


def find_mistakes(inputs):
    if not inputs["strength"]:
        return ()
    return OF_MIXED if inputs["model"] == "mixed" else MISTAKES


def near(got, wanted):
    return np.allclose(got, wanted, rtol=NEAR, atol=NEAR)


def loss_case(rng, name, idea, strength, *, model="plain", batches=1, public=True):
    inputs = draw_telling(rng, {"ask": "loss", "model": model, "strength": strength}, batches)
    shown = f"loss = loss_fn(model, soil, harvest, strength={strength})\nloss.backward()\n{MODELS[model]}"
    return case(name, idea, "loss-changed", public, inputs, shown)


def train_case(rng, name, idea, strength, *, model="plain", epochs=2, public=True):
    order = {"ask": "train", "model": model, "strength": strength, "epochs": epochs, "lr": 0.05}
    inputs = draw_telling(rng, order, batches=3)
    shown = (
        f"train(model, batches, lr=0.05, strength={strength}, epochs={epochs})\n3 batches of 6 rows\n{MODELS[model]}"
    )
    return case(name, idea, "training-changed", public, inputs, shown)


MODELS = {
    "plain": "# the model: 4 measures, layers of 5 and 3 hidden units, one output",
    "mixed": """# the model's parameters, by name and shape:
# weight (4,), weight_of_inner (5, 1)
# first.weight (5, 4), first.bias (5,)
# norm.weight (5,), norm.bias (5,)
# inner.weight (5, 5), inner.bias (5,); inner is used twice
# skip_weight (5,)
# last.weight (1, 5), last.bias (1,)""",
}


def case(name, idea, finding, public, inputs, shown):
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": public,
        "inputs": inputs,
        "shown": shown if public else "",
        "instead": {"wrong_shape": "log-changed"},
    }


def draw_telling(rng, inputs, batches):
    """Data on which every known mistake shows."""
    while True:
        drawn = inputs | draw_data(rng, inputs["model"], batches)
        if not inputs["strength"]:
            return drawn
        value = "gradients" if inputs["ask"] == "loss" else "parameters"
        truth = answer(drawn)
        wrongs = [answer(drawn, mistake) for mistake in find_mistakes(drawn)]
        if all(np.abs(wrong[value] - truth[value]).max() > APART for wrong in wrongs):
            return drawn


def draw_data(rng, model, batches):
    numbers = np.random.default_rng(rng.getrandbits(64))
    count = sum(parameter.numel() for parameter in make_model(model).parameters())
    return {
        "sizes": SIZES,
        "soil": numbers.normal(size=(batches, 6, SIZES[0])),
        "harvest": numbers.normal(size=(batches, 6)) + 1.0,
        "start": numbers.normal(size=count) * 0.6,
    }


def answer(inputs, mistake=None):
    """The answer of a program that makes `mistake`."""
    model = make_model(inputs["model"])
    nn.utils.vector_to_parameters(torch.from_numpy(inputs["start"].copy()), model.parameters())
    batches = list(zip(torch.from_numpy(inputs["soil"]), torch.from_numpy(inputs["harvest"]), strict=True))
    if inputs["ask"] == "loss":
        loss = sum(compute_loss(model, batch, inputs["strength"], mistake) for batch in batches)
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
    weights = choose_weights(model, mistake)
    match mistake:
        case "penalty-missing":
            return 0.0
        case "not-squared":
            return sum(weight.norm() for weight in weights)
        case "mean-for-sum":
            return sum(weight.pow(2).mean() for weight in weights)
        case "doubled":
            return 2 * sum(weight.pow(2).sum() for weight in weights)
    total = sum(weight.pow(2).sum() for weight in weights)
    return total.item() if mistake == WITHOUT_GRADIENT else total


def choose_weights(model, mistake):
    named = list(model.named_parameters())
    is_weight = NAMED.get(mistake, lambda name: name.endswith("weight"))
    weights = [parameter for name, parameter in named if is_weight(name)]
    match mistake:
        case "biases-too":
            return list(model.parameters())
        case "last-layer-only":
            return weights[-1:]
        case "matrices-only":
            return [parameter for parameter in model.parameters() if parameter.dim() == 2]
        case "linears-only":
            return [module.weight for module in model.modules() if isinstance(module, nn.Linear)]
        case "shared-twice":
            return [*weights, model.inner.weight]
    return weights


def make_model(kind):
    if kind == "mixed":
        return Mixed().double()
    layers = (nn.Linear(SIZES[0], SIZES[1]), nn.Tanh(), nn.Linear(SIZES[1], SIZES[2]), nn.Tanh())
    return nn.Sequential(*layers, nn.Linear(SIZES[2], 1)).double()


class Mixed(nn.Module):
    """As in probe.py, written a second time: what judges shares no code with what runs beside the learner's."""

    def __init__(self):
        super().__init__()
        measures, hidden = SIZES[:2]
        self.weight = nn.Parameter(torch.ones(measures))
        self.first = nn.Linear(measures, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.inner = nn.Linear(hidden, hidden)
        self.weight_of_inner = nn.Parameter(torch.ones(hidden, 1))
        self.skip_weight = nn.Parameter(torch.ones(hidden))
        self.last = nn.Linear(hidden, 1)

    def forward(self, x):
        h = self.norm(torch.tanh(self.first(x * self.weight)))
        twice = torch.tanh(self.inner(torch.tanh(self.inner(h))))
        return self.last(h * self.skip_weight + twice * self.weight_of_inner.squeeze(-1))
