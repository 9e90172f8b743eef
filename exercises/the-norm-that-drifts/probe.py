"""Trains a case's model with the learner's `train`, or shows the learner's `looks_wrong` a case's programs."""

import torch
from torch import nn
from torch.nn import functional as F


def probe(submission, case):
    if "programs" in case:
        return {"wrong": [ask(submission.looks_wrong, program) for program in case["programs"]]}
    model = load_model(case)
    batches = list(zip(torch.from_numpy(case["readings"]), torch.from_numpy(case["temperature"]), strict=True))
    if "left_over" in case:
        for parameter, left in zip(model.parameters(), split(model, case["left_over"]), strict=True):
            parameter.grad = left.clone()
    submission.train(model, batches, lr=case["lr"], momentum=case["momentum"], epochs=case["epochs"])
    return {"parameters": nn.utils.parameters_to_vector(model.parameters())}


def load_model(case):
    sensors = case["readings"].shape[2]
    model = nn.Sequential(nn.Linear(sensors, case["hidden"]), nn.Tanh(), nn.Linear(case["hidden"], 1)).double()
    nn.utils.vector_to_parameters(torch.from_numpy(case["start"].copy()), model.parameters())
    return model


def split(model, vector):
    sizes = [parameter.numel() for parameter in model.parameters()]
    pieces = torch.from_numpy(vector).split(sizes)
    return [piece.view_as(p) for piece, p in zip(pieces, model.parameters(), strict=True)]


def ask(looks_wrong, program):
    said = looks_wrong(lambda: build(program))
    if not isinstance(said, bool):
        raise TypeError(f"looks_wrong should return True or False; it returned {said!r}")
    return said


def build(program):
    """A model and a function that trains it by one step: the program's instructions, one after the other."""
    run = Run(program)
    return run.model, lambda: run.step(program["body"])


class Run:
    """One training run. What stands in its instructions is done by the method of that name."""

    def __init__(self, program):
        generator = torch.Generator().manual_seed(program["seed"])
        self.model, self.spare = (self.make_model(program, generator) for _ in range(2))
        maker = getattr(torch.optim, program["optimizer"])
        self.optimizer = maker(self.model.parameters(), **program["settings"])
        inputs = torch.randn(5, 8, program["inputs"], generator=generator, dtype=torch.float64)
        targets = torch.randn(5, 8, generator=generator, dtype=torch.float64)
        self.batches = list(zip(inputs, targets, strict=True))
        self.kept = []
        self.count = 0
        F.mse_loss(self.spare(inputs[0]).squeeze(-1), targets[0]).backward()

    @staticmethod
    def make_model(program, generator):
        layers = nn.Linear(program["inputs"], program["hidden"]), nn.Tanh(), nn.Linear(program["hidden"], 1)
        model = nn.Sequential(*layers).double()
        for parameter in model.parameters():
            drawn = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            parameter.data.copy_(0.5 * drawn)
        return model

    def step(self, body):
        self.batch = self.batches[self.count % len(self.batches)]
        for instruction, *details in body:
            getattr(self, instruction)(*details)
        self.count += 1
        return self.total

    def backward(self, parts):
        """The batch as `parts` equal parts, whose weighted losses add up to the batch's."""
        pieces = zip(*(tensor.chunk(parts) for tensor in self.batch), strict=True)
        losses = [F.mse_loss(self.model(inputs).squeeze(-1), targets) / parts for inputs, targets in pieces]
        for loss in losses:
            loss.backward()
        self.total = sum(loss.item() for loss in losses)

    def update(self):
        self.optimizer.step()

    def by_hand(self, lr):
        inputs, targets = self.batch
        loss = F.mse_loss(self.model(inputs).squeeze(-1), targets)
        gradients = torch.autograd.grad(loss, list(self.model.parameters()))
        with torch.no_grad():
            for parameter, gradient in zip(self.model.parameters(), gradients, strict=True):
                parameter -= lr * gradient
        self.total = loss.item()

    def clip(self, most):
        nn.utils.clip_grad_norm_(self.model.parameters(), most)

    def clear(self, whose, how, pattern):
        """In the steps in which the pattern, repeated, has a 1: no gradient, a gradient of zeros, or half of it."""
        if not pattern[self.count % len(pattern)]:
            return
        for parameter in self.parameters(whose):
            if how == "none" or parameter.grad is None:
                parameter.grad = None
            else:
                parameter.grad.mul_(0.5 if how == "half" else 0.0)

    def parameters(self, whose):
        if whose == "spare":
            return list(self.spare.parameters())
        ranks = {"model": (1, 2), "weights": (2,), "biases": (1,)}[whose]
        return [parameter for parameter in self.model.parameters() if parameter.dim() in ranks]

    def keep(self):
        self.kept = [None if p.grad is None else p.grad.clone() for p in self.model.parameters()]

    def put_back(self):
        for parameter, kept in zip(self.model.parameters(), self.kept, strict=True):
            if kept is not None:
                parameter.grad += kept
