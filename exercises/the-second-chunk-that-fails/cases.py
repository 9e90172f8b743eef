"""Trainings on sequences in chunks, replayed with every mistake that is known."""

import numpy as np
import torch

FEATURES, HIDDEN, ROWS = 2, 3, 4
NEAR = 1e-7
APART = 1e-4
MISTAKES = (
    "cut-each-step",
    "state-lost",
    "start-cut",
    "summed",
    "last-hour",
    "one-update",
    "left-over",
    "stale-at-start",
)


def draw_cases(rng):
    cases = [
        draw(rng, "three chunks", "Six hours in chunks of two", "rnn", 6, 2),
        draw(rng, "two states", "An LSTM, whose state has two parts", "lstm", 6, 3),
        draw(rng, "a learned start", "The state before the first hour is trained", "rnn", 4, 2, learned=True),
        draw(rng, "a shorter chunk", "The last chunk is shorter than the others", "rnn", 7, 3),
        draw(rng, "one chunk", "The whole sequence is shorter than a chunk", "rnn", 3, 10),
        draw(rng, "single hours", "Chunks of one hour", "lstm", 4, 1, learned=True),
        draw(rng, "used before", "All parameters hold a gradient before the first step", "rnn", 4, 2, stale=True),
        draw(rng, "longer", "Thirteen hours, an LSTM and a learned start", "lstm", 13, 4, learned=True),
    ]
    for hidden in cases[3:]:
        hidden |= {"public": False, "shown": ""}
    return cases


def diagnose(inputs, got, expected):
    if near(got["parameters"], expected["parameters"]):
        if got["attached"]:
            return "state-attached"
        return "log-wrong" if near(got["state"], expected["state"]) else "state-wrong"
    return next((m for m in find_mistakes(inputs) if near(got["parameters"], replay(inputs, m))), None)


def find_mistakes(inputs):
    """Those that this case can show."""
    hours, chunk = len(inputs["readings"]), inputs["chunk"]
    several, long = hours > chunk, min(hours, chunk) > 1
    shows = {
        "cut-each-step": long,
        "state-lost": several,
        "start-cut": inputs["learned"],
        "summed": long,
        "last-hour": long,
        "one-update": several,
        "left-over": several,
        "stale-at-start": inputs["stale"],
    }
    return [mistake for mistake in MISTAKES if shows[mistake]]


def near(got, wanted):
    return np.allclose(got, wanted, rtol=NEAR, atol=NEAR)


def draw(rng, name, idea, kind, hours, chunk, *, learned=False, stale=False):
    gates, states = (4, 2) if kind == "lstm" else (1, 1)
    size = gates * HIDDEN * (FEATURES + HIDDEN + 2) + HIDDEN + 1 + states * HIDDEN * learned
    while True:
        numbers = np.random.default_rng(rng.getrandbits(64))
        inputs = {
            "kind": kind,
            "learned": learned,
            "stale": stale,
            "readings": numbers.normal(size=(hours, ROWS, FEATURES)),
            "targets": numbers.normal(size=(hours, ROWS)) + 0.5,
            "start": numbers.normal(size=size) * 0.7,
            "left_over": numbers.normal(size=size),
            "chunk": chunk,
            "lr": 0.1,
        }
        truth = replay(inputs)
        if all(np.abs(replay(inputs, mistake) - truth).max() > APART for mistake in find_mistakes(inputs)):
            break
    cell = {"rnn": "nn.RNNCell", "lstm": "nn.LSTMCell"}[kind]
    shown = f"losses, state = train(model, readings, targets, chunk={chunk}, lr=0.1)\n"
    shown += f"# {hours} hours, {ROWS} rows; the model has an {cell}, and its first state is "
    return {
        "name": name,
        "idea": idea,
        "finding": "differs",
        "public": True,
        "inputs": inputs,
        "shown": shown + ("a parameter" if learned else "zero"),
        "instead": {"wrong_shape": "log-wrong"},
    }


def replay(inputs, mistake=None):
    """The parameters after the training; the cells are written by their formulas."""
    parameters, first = make_parameters(inputs)
    trained = [*parameters, first] if inputs["learned"] else parameters
    held = [torch.zeros_like(p) for p in trained]
    if inputs["stale"]:
        held = split(inputs["left_over"], inputs)
    state = [part.expand(ROWS, -1) for part in first]
    hours, chunk = len(inputs["readings"]), inputs["chunk"]
    losses = []
    for begin in range(0, hours, chunk):
        if mistake == "state-lost":
            state = [part.expand(ROWS, -1) for part in first]
        if mistake == "start-cut" and begin == 0:
            state = [part.detach() for part in state]
        errors, state = take_hours(parameters, inputs, range(begin, min(begin + chunk, hours)), state, mistake)
        state = [part.detach() for part in state]
        losses.append(choose_loss(errors, mistake))
        if mistake == "one-update":
            continue
        gradients = differentiate(losses[-1], trained)
        if mistake == "left-over" or (mistake == "stale-at-start" and begin == 0):
            gradients = [g + old for g, old in zip(gradients, held, strict=True)]
        held = gradients
        update(trained, gradients, inputs["lr"])
    if mistake == "one-update":
        update(trained, differentiate(torch.stack(losses).mean(), trained), inputs["lr"])
    return torch.cat([p.detach().flatten() for p in order(parameters, first, inputs)]).numpy()


def take_hours(parameters, inputs, places, state, mistake):
    """The error of each hour of a chunk, and the state after it."""
    errors = []
    for place in places:
        if mistake == "cut-each-step" and errors:
            state = [part.detach() for part in state]
        prediction, state = take_hour(parameters, torch.from_numpy(inputs["readings"][place]), state)
        errors.append((prediction - torch.from_numpy(inputs["targets"][place])).pow(2).mean())
    return errors, state


def choose_loss(errors, mistake):
    match mistake:
        case "summed":
            return torch.stack(errors).sum()
        case "last-hour":
            return errors[-1]
    return torch.stack(errors).mean()


def differentiate(loss, parameters):
    found = torch.autograd.grad(loss, parameters, allow_unused=True)
    return [torch.zeros_like(p) if g is None else g for p, g in zip(parameters, found, strict=True)]


def update(parameters, gradients, lr):
    with torch.no_grad():
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter -= lr * gradient


def list_shapes(inputs):
    """In the order of the model's parameters: the first state, where it is one, before the layers."""
    wide = HIDDEN * (4 if inputs["kind"] == "lstm" else 1)
    cell = [(wide, FEATURES), (wide, HIDDEN), (wide,), (wide,)]
    first = [(2 if inputs["kind"] == "lstm" else 1, HIDDEN)] if inputs["learned"] else []
    return [*first, *cell, (1, HIDDEN), (1,)]


def split(numbers, inputs):
    """The pieces for the layers, and then for the first state if it is learned."""
    shapes = list_shapes(inputs)
    pieces = torch.from_numpy(numbers.copy()).split([int(np.prod(shape)) for shape in shapes])
    parts = [piece.view(shape) for piece, shape in zip(pieces, shapes, strict=True)]
    return parts[1:] + parts[:1] if inputs["learned"] else parts


def make_parameters(inputs):
    parts = split(inputs["start"], inputs)
    states = 2 if inputs["kind"] == "lstm" else 1
    first = parts.pop() if inputs["learned"] else torch.zeros(states, HIDDEN).double()
    return [part.requires_grad_() for part in parts], first.requires_grad_(inputs["learned"])


def order(parameters, first, inputs):
    return [first, *parameters] if inputs["learned"] else parameters


def take_hour(parameters, reading, state):
    into, recurrent, bias, second_bias, weight, last_bias = parameters
    mixed = reading @ into.T + bias + state[0] @ recurrent.T + second_bias
    if len(state) == 1:
        hidden, new = torch.tanh(mixed), None
    else:
        enter, forget, candidate, leave = mixed.chunk(4, dim=1)
        new = torch.sigmoid(forget) * state[1] + torch.sigmoid(enter) * torch.tanh(candidate)
        hidden = torch.sigmoid(leave) * torch.tanh(new)
    return (hidden @ weight.T + last_bias).squeeze(-1), [hidden] if new is None else [hidden, new]
