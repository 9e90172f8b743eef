"""Trains with the learner's `train`, or shows the learner's `looks_wrong` a case's functions."""

import torch


def probe(submission, case):
    if "programs" in case:
        return {"wrong": [ask(submission.looks_wrong, program) for program in case["programs"]]}
    batches = list(zip(torch.from_numpy(case["hours"]), torch.from_numpy(case["counts"]), strict=True))
    start = torch.from_numpy(case["start"].copy())
    weights, heights = submission.train(start, batches, lr=case["lr"], cap=case["cap"])
    return {"weights": weights, "heights": [float(height) for height in heights]}


def ask(looks_wrong, program):
    function = Function(program)
    said = looks_wrong(lambda x: function(x), torch.tensor(program["x"], dtype=torch.float64))
    if not isinstance(said, bool):
        raise TypeError(f"looks_wrong should return True or False; it returned {said!r}")
    return said


class Function:
    """A function of a vector: a program's instructions, one after the other, each done by the method of its name."""

    def __init__(self, program):
        self.body = program["body"]
        self.matrix = torch.tensor(program["matrix"], dtype=torch.float64)
        self.weights = torch.tensor(program["weights"], dtype=torch.float64)

    def __call__(self, x):
        self.held = {"x": x, "w": self.weights.clone()}
        for instruction, *details in self.body:
            getattr(self, instruction)(*details)
        return self.held["loss"]

    def mix(self, to, name):
        self.held[to] = self.matrix @ self.held[name]

    def apply(self, to, operation, name):
        self.held[to] = getattr(torch, operation)(self.held[name])

    def times(self, to, name, other):
        self.held[to] = self.held[name] * (self.held[other] if isinstance(other, str) else other)

    def add(self, to, name, other):
        self.held[to] = self.held[name] + self.held[other]

    def total(self, to, name):
        self.held[to] = (self.held[name] * self.weights).sum()

    def add_in_place(self, name, number):
        self.held[name].add_(number)

    def copy(self, to, name):
        self.held[to] = self.held[name].detach().clone()

    def edit(self, name, door, how, number):
        """Write into a tensor's memory through a door that autograd does not watch."""
        raw = self.held[name].data
        if door == "numpy":
            raw = torch.from_numpy(self.held[name].detach().numpy())
        if how == "cap":
            raw.clamp_(max=number)
        else:
            (raw[:1] if how == "first" else raw).mul_(number)
