"""Runs the case's steps under a learner's monitors, and reads norms and gradients after each backward.

Steps: ["attach", monitor], ["backward", batch], ["zero"], ["remove", monitor]. A norm that is missing is -1; one that
is no float is -2. Where one was taken off, the others are too at the end, and the hooks that are left are counted.
"""

from itertools import pairwise

import torch

MISSING, NO_FLOAT = -1.0, -2.0
Float = float


class Network(torch.nn.Module):
    """Layers with tanh between them; `tied` uses the first of them twice."""

    def __init__(self, sizes, tied):
        super().__init__()
        self.layers = torch.nn.ModuleList(
            torch.nn.Linear(ins, outs, dtype=torch.float64) for ins, outs in pairwise(sizes)
        )
        self.tied = tied

    def forward(self, x):
        if self.tied:
            x = torch.tanh(self.layers[0](x))
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return x.pow(2).sum()


def probe(submission, case):
    model = build(case)
    names = [name for name, _ in model.named_parameters()]
    monitors, norms, read, entries, refused = {}, {}, [], 0, False
    for step, *what in case["steps"]:
        if step == "attach":
            norms[what[0]] = {}
            try:
                monitors[what[0]] = submission.attach(model, norms[what[0]])
            except RuntimeError as error:
                if "doesn't require gradient" not in str(error):
                    raise
                refused = True
                monitors[what[0]] = list
        elif step == "backward":
            model(torch.from_numpy(case["batches"])[what[0]]).backward()
            read += [read_norm(one, name) for one in norms.values() for name in names]
            entries += sum(len(one) for one in norms.values())
        elif step == "zero":
            model.zero_grad()
        else:
            monitors.pop(what[0])()
            norms[what[0]].clear()
    is_watched = len(monitors) == len(norms)
    for take_off in monitors.values():
        take_off()
    gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in model.parameters()]
    return {
        "norms": read,
        "entries": entries,
        "hooks left": 0 if is_watched else sum(count_hooks(parameter) for parameter in model.parameters()),
        "refused": refused,
        "gradients": torch.cat([one.flatten() for one in gradients]),
    }


def build(case):
    model = Network(case["sizes"], case["tied"])
    numbers = torch.from_numpy(case["weights"])
    start = 0
    with torch.no_grad():
        for place, parameter in enumerate(model.parameters()):
            parameter.copy_(numbers[start : start + parameter.numel()].view_as(parameter))
            start += parameter.numel()
            parameter.requires_grad_(place not in case["frozen"])
    return model


def read_norm(norms, name):
    value = norms.get(name, MISSING)
    return value if type(value) is Float else NO_FLOAT


def count_hooks(parameter):
    """Those on the tensor and those after accumulation; hooks on nodes show in later backward calls alone."""
    return len(parameter._backward_hooks or ()) + len(parameter._post_accumulate_grad_hooks or ())
