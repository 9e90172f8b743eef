"""Losses of single steps and their gradients, compared with those of every known mistake."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

NEAR = 1e-6
APART = 1e-3
MISTAKES = (
    "target-trained",
    "wrong-side",
    "no-gradient",
    "ends-ignored",
    "ends-inverted",
    "no-discount",
    "own-gamma",
    "halved",
    "summed",
)
SAME_VALUE = ("target-trained", "wrong-side", "no-gradient")
NEED_SOME_THAT_GO_ON = ("target-trained", "wrong-side", "no-discount", "own-gamma")


def draw_cases(rng):
    cases = [
        draw_loss(rng, "steps that go on", "No episode ends", 0.7, ends=0),
        draw_loss(rng, "some ends", "Three of the eight steps end an episode", 0.8, ends=3),
        draw_training(rng, "a training", "Four steps of SGD with your loss", 0.6),
        draw_loss(rng, "only ends", "Every step ends an episode: the targets are the rewards", 0.8, ends=8),
        draw_loss(rng, "back where it was", "Each next state is the state itself", 0.5, ends=2, stays=True),
        draw_loss(rng, "no future", "gamma is 0", 0.0, ends=2),
        draw_loss(rng, "two losses", "Two losses, then one backward pass through both", 0.75, ends=2, batches=2),
        draw_loss(rng, "one step", "A batch of one row", 0.65, ends=0, rows=1),
        draw_training(rng, "another training", "Eight steps with a large gamma", 0.97, batches=8),
    ]
    for hidden in cases[3:]:
        hidden |= {"public": False, "shown": ""}
    return cases


def diagnose(inputs, got, expected):
    if not got["recording"]:
        return "recording-off"
    if got["frozen"]:
        return "frozen"
    if got["recording switched on"] or got["unfrozen"]:
        return "recording-on" if got["recording switched on"] else "unfrozen"
    if got["mode changed"] or got["gradients changed"]:
        return "mode-changed" if got["mode changed"] else "gradients-changed"
    mistakes = find_mistakes(inputs)
    if inputs["ask"] == "train":
        return next((m for m in mistakes if near(got["parameters"], answer(inputs, m)["parameters"])), None)
    for mistake in mistakes:
        wrong = answer(inputs, mistake)
        if near(got["loss"], wrong["loss"]) and near(got["gradients"], wrong["gradients"]):
            return mistake
    return "gradient-wrong" if near(got["loss"], expected["loss"]) else None


def find_mistakes(inputs):
    """Those that this case can show, which its numbers then tell apart."""
    done = inputs["done"]
    hidden = set()
    if not inputs["gamma"]:
        hidden |= {*NEED_SOME_THAT_GO_ON, "ends-ignored", "ends-inverted"} - {"own-gamma", "no-discount"}
    if done.all():
        hidden |= set(NEED_SOME_THAT_GO_ON)
    if not done.any():
        hidden |= {"ends-ignored"}
    if done.shape[1] == 1:
        hidden |= {"summed"}
    if inputs["ask"] == "train":
        hidden |= {"halved", "summed"}
    return [mistake for mistake in MISTAKES if mistake not in hidden]


def near(got, wanted):
    return np.allclose(got, wanted, rtol=NEAR, atol=NEAR)


def draw_loss(rng, name, idea, gamma, *, ends, rows=8, batches=1, stays=False):
    inputs = draw_telling(rng, {"ask": "loss", "gamma": gamma}, rows, batches, ends, stays)
    shown = f"loss = td_loss(value, states, rewards, next_states, done, gamma={gamma})\nloss.backward()\n"
    return make_case(name, idea, "loss-wrong", inputs, shown)


def draw_training(rng, name, idea, gamma, batches=4):
    inputs = draw_telling(rng, {"ask": "train", "gamma": gamma, "lr": 0.1}, 8, batches, 2, False)
    shown = f"for batch in batches:  # {batches} of them, gamma={gamma}\n"
    shown += "    optimizer.zero_grad()\n    td_loss(value, *batch, gamma).backward()\n    optimizer.step()\n"
    return make_case(name, idea, "differs", inputs, shown)


def make_case(name, idea, finding, inputs, shown):
    rows, ends = inputs["done"].shape[1], int(inputs["done"][0].sum())
    shown += f"# {rows} rows of 3 features, {ends} of them with done; value has 4 hidden units"
    parameters = {"0.weight": [4, 3], "0.bias": [4], "2.weight": [1, 4], "2.bias": [1]}
    labels = {"gradients" if inputs["ask"] == "loss" else "parameters": parameters}
    facts = {"name": name, "idea": idea, "finding": finding, "public": True}
    return {**facts, "inputs": inputs, "shown": shown, "labels": labels}


def draw_telling(rng, inputs, rows, batches, ends, stays):
    """Data on which every mistake that the case can show gives numbers of its own."""
    while True:
        drawn = inputs | draw_data(rng, rows, batches, ends, stays)
        truth, mistakes = answer(drawn), find_mistakes(drawn)
        if all(is_apart(truth, answer(drawn, mistake)) for mistake in mistakes):
            return drawn


def is_apart(truth, wrong):
    return max(np.abs(np.asarray(wrong[name]) - truth[name]).max() for name in truth) > APART


def draw_data(rng, rows, batches, ends, stays):
    numbers = np.random.default_rng(rng.getrandbits(64))
    states = numbers.normal(size=(batches, rows, 3))
    done = np.zeros((batches, rows), dtype=bool)
    for batch in done:
        batch[numbers.permutation(rows)[:ends]] = True
    return {
        "states": states,
        "rewards": numbers.normal(size=(batches, rows)) + 1.0,
        "next_states": states.copy() if stays else numbers.normal(size=(batches, rows, 3)),
        "done": done,
        "start": numbers.normal(size=3 * 4 + 4 + 4 + 1) * 0.7,
    }


def answer(inputs, mistake=None):
    """The answer of a program that makes `mistake`."""
    value = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1), nn.Flatten(0)).double()
    nn.utils.vector_to_parameters(torch.from_numpy(inputs["start"].copy()), value.parameters())
    parts = (torch.from_numpy(inputs[name]) for name in ("states", "rewards", "next_states", "done"))
    batches = list(zip(*parts, strict=True))
    parameters = list(value.parameters())
    if inputs["ask"] == "loss":
        loss = sum(compute_loss(value, batch, inputs["gamma"], mistake) for batch in batches)
        return {"loss": loss.item(), "gradients": flatten(differentiate(loss, parameters))}
    for batch in batches:
        gradients = differentiate(compute_loss(value, batch, inputs["gamma"], mistake), parameters)
        with torch.no_grad():
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter -= inputs["lr"] * gradient
    return {"parameters": flatten(parameters)}


def compute_loss(value, batch, gamma, mistake):
    states, rewards, next_states, done = batch
    gamma = {"no-discount": 1.0, "own-gamma": 0.9}.get(mistake, gamma)
    goes_on = {"ends-ignored": torch.ones_like(done), "ends-inverted": done}.get(mistake, ~done)
    prediction, target = value(states), rewards + gamma * value(next_states) * goes_on
    if mistake in ("wrong-side", "no-gradient"):
        prediction = prediction.detach()
    if mistake not in ("wrong-side", "target-trained"):
        target = target.detach()
    loss = F.mse_loss(prediction, target, reduction="sum" if mistake == "summed" else "mean")
    return loss / 2 if mistake == "halved" else loss


def differentiate(loss, parameters):
    if not loss.requires_grad:
        return [torch.zeros_like(parameter) for parameter in parameters]
    return torch.autograd.grad(loss, parameters)


def flatten(tensors):
    return torch.cat([tensor.detach().flatten() for tensor in tensors]).numpy()
