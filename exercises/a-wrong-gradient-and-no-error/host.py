"""The functions that the learner's check is tried on. They run here, beside the judge; nothing else can read them."""

import torch


class Host:
    """Given a function's number and a vector, returns its value and autograd's gradient."""

    def __init__(self, programs):
        self.functions = [Function(program) for program in programs]

    def answer(self, question):
        x = torch.from_numpy(question[1:]).requires_grad_()
        # The caller may have turned recording off.
        with torch.enable_grad():
            loss = self.functions[int(question[0])](x)
        (gradient,) = torch.autograd.grad(loss, x)
        return [loss.item(), *gradient.tolist()]


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

    def sum(self, to, name):
        self.held[to] = self.held[name].sum()

    def add_in_place(self, name, number):
        self.held[name].add_(number)

    def copy(self, to, name):
        self.held[to] = self.held[name].detach().clone()

    def edit(self, name, door, how, number, place=0):
        """Write into a tensor's memory in a way that autograd does not see."""
        raw = self.held[name].data
        if door == "numpy":
            raw = torch.from_numpy(self.held[name].detach().numpy())
        if how == "cap":
            raw.clamp_(max=number)
        elif how == "flip":
            raw.copy_(raw.flip(0))
        else:
            (raw[place] if how == "one" else raw).mul_(number)
