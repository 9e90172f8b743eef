"""Trains the case's model with the learner's hooks; reads parameters and gradients during and after each backward.

Steps: ["install"], ["backward", batch], ["remove"]. The reading during a backward takes place each time the
gradient of a layer's input has been computed: by then, everything behind that layer is finished.
"""

from itertools import pairwise

import torch
from torch.multiprocessing.reductions import StorageWeakRef

read_grad = torch.Tensor.grad.__get__  # a learner's class may hide the attribute


class Network(torch.nn.Module):
    """Layers with tanh between them; `tied` uses the first one twice, `spare` adds one that is never used."""

    def __init__(self, case):
        super().__init__()
        self.layers = torch.nn.ModuleList(
            torch.nn.Linear(ins, outs, dtype=torch.float64) for ins, outs in pairwise(case["sizes"])
        )
        if case["spare"]:
            self.spare = torch.nn.Linear(2, 2, dtype=torch.float64)
        self.tied = case["tied"]
        self.between = lambda: None

    def forward(self, x):
        for layer in [self.layers[0], *self.layers] if self.tied else self.layers:
            if x.requires_grad:
                x.register_hook(lambda gradient: self.between())
            x = torch.tanh(layer(x))
        return x.pow(2).sum()


class Readings:
    """What the parameters and their gradients are at each moment of interest."""

    def __init__(self, parameters):
        self.parameters, self.storages = parameters, []
        self.values = {"during": [], "after": []}
        self.left = {"during": [], "after": []}
        self.alive, self.is_installed = [], True

    def note_gradient(self, parameter):
        self.storages.append(StorageWeakRef(read_grad(parameter).untyped_storage()))

    def read(self, moment):
        self.values[moment].append(torch.cat([p.detach().clone().flatten() for p in self.parameters]))
        self.left[moment].append(sum(read_grad(p) is not None for p in self.parameters))
        if moment == "after" and self.is_installed:
            self.alive.append(sum(not storage.expired() for storage in self.storages))


def probe(submission, case):
    model = build(case)
    parameters = list(model.parameters())
    watched = [p for p in parameters if p.requires_grad]
    readings, others = Readings(parameters), {"doubled": False}
    for parameter in watched:
        parameter.register_post_accumulate_grad_hook(readings.note_gradient)
    if case["others"]:
        register_others(watched, others)
    model.between = lambda: readings.read("during")
    refused = run_steps(submission, case, model, readings, others)
    gradients = [torch.zeros_like(p) if read_grad(p) is None else read_grad(p) for p in parameters]
    width = sum(p.numel() for p in parameters)
    return {
        "parameters": torch.stack(readings.values["after"]),
        "gradients left": torch.tensor(readings.left["after"]),
        "parameters during": torch.cat([torch.zeros(0, width, dtype=torch.float64), *rows(readings)]),
        "gradients left during": torch.tensor(readings.left["during"], dtype=torch.int64),
        "gradients in memory": torch.tensor(readings.alive),
        "gradients": torch.cat([one.detach().flatten() for one in gradients]),
        "refused": refused,
    }


def rows(readings):
    return [values[None] for values in readings.values["during"]]


def run_steps(submission, case, model, readings, others):
    """Whether the learner's function asked a frozen parameter for a hook."""
    refused, remove = False, None
    for step, *what in case["steps"]:
        if step == "install":
            try:
                remove = submission.install(model, case["lr"])
            except RuntimeError as error:
                if "doesn't require gradient" not in str(error):
                    raise
                refused, remove = True, list
            if not callable(remove):
                raise TypeError(
                    f"install should return a function; it returned a value of type {type(remove).__name__}"
                )
        elif step == "backward":
            model(torch.from_numpy(case["batches"])[what[0]]).backward()
            readings.read("after")
        else:
            remove()
            readings.is_installed = False
            others["doubled"] = True
    return refused


def build(case):
    model = Network(case)
    numbers, start = torch.from_numpy(case["weights"]), 0
    with torch.no_grad():
        for place, parameter in enumerate(model.parameters()):
            parameter.copy_(numbers[start : start + parameter.numel()].view_as(parameter))
            start += parameter.numel()
            parameter.requires_grad_(place not in case["frozen"])
    return model


def register_others(parameters, others):
    """Hooks that are not the learner's: one triples each gradient; one doubles `.grad` after removal."""

    def double(parameter):
        if others["doubled"]:
            parameter.grad.mul_(2.0)

    for parameter in parameters:
        parameter.register_hook(lambda gradient: 3.0 * gradient)
        parameter.register_post_accumulate_grad_hook(double)
