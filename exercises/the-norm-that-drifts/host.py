"""The programs that the learner's check is tried on. They run here, with the judge, and can be read nowhere else."""

import torch
from probe import make_model, put_state, take_state
from torch import nn
from torch.nn import functional as F

MOST_RUNS = 2000


class Host:
    """Asked with a program's number, begins a run of it; asked with a run and its model's state, takes one step."""

    def __init__(self, programs):
        self.programs = programs
        self.runs = []

    def answer(self, question):
        number, state = int(question[0]), torch.from_numpy(question[1:])
        if not len(state):
            return self.begin(self.programs[number])
        run = self.runs[number]
        put_state(run.model, state)
        # Whoever asks may have recording off.
        with torch.enable_grad():
            loss = run.step()
        return [loss, *take_state(run.model).tolist()]

    def begin(self, program):
        if len(self.runs) >= MOST_RUNS:
            raise ValueError("too many runs")
        with torch.enable_grad():
            self.runs.append(Run(program))
        return [len(self.runs) - 1, *take_state(self.runs[-1].model).tolist()]


class Run:
    """One training run. What stands in its instructions is done by the method of that name."""

    def __init__(self, program):
        self.body = program["body"]
        generator = torch.Generator().manual_seed(program["seed"])
        self.model, self.spare = (self.draw_model(program, generator) for _ in range(2))
        maker = getattr(torch.optim, program["optimizer"])
        self.optimizer = maker(self.model.parameters(), **program["settings"])
        inputs = torch.randn(5, 8, program["inputs"], generator=generator, dtype=torch.float64)
        targets = torch.randn(5, 8, generator=generator, dtype=torch.float64)
        self.batches = list(zip(inputs, targets, strict=True))
        self.kept = []
        self.count = 0
        F.mse_loss(self.spare(inputs[0]).squeeze(-1), targets[0]).backward()

    @staticmethod
    def draw_model(program, generator):
        model = make_model(program["inputs"], program["hidden"])
        for parameter in model.parameters():
            drawn = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            parameter.data.copy_(0.5 * drawn)
        return model

    def step(self):
        self.batch = self.batches[self.count % len(self.batches)]
        for instruction, *details in self.body:
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
