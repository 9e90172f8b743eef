"""The training runs that the learner's measurement is tried on. They run here, beside the judge, out of its reach."""

import weakref

import torch

MOST_RUNS = 200
MOST_STEPS = 12
LONGEST = 8
FEATURES = 3


class Host:
    """Asked with a program's number, begins a run of it; asked with a run and a length, takes a step of it."""

    def __init__(self, programs):
        self.programs = programs
        self.number, self.runs = None, []

    def answer(self, question):
        if len(question) == 1:
            return [self.begin(int(question[0]))]
        # The caller may have turned recording off.
        with torch.enable_grad():
            return self.runs[int(question[0])].step(int(question[1]))

    def begin(self, number):
        """The new run's place. Runs of another program are given up, so that few graphs are held at a time."""
        if number != self.number:
            self.number, self.runs = number, []
        if len(self.runs) >= MOST_RUNS:
            raise ValueError("too many runs")
        self.runs.append(Run(self.programs[number]))
        return len(self.runs) - 1


class Saved:
    """A tensor that a node has saved; it lives as long as the node keeps it."""

    def __init__(self, tensor):
        self.tensor = tensor.detach()


class Run:
    """One training run of a recurrent model. Its gradients add up; the optimizer acts after the last step."""

    def __init__(self, program):
        self.program = program
        generator = torch.Generator().manual_seed(program["seed"])
        hidden = program["hidden"]

        def draw(*shape):
            return torch.randn(*shape, generator=generator, dtype=torch.float64)

        self.table, self.targets = draw(MOST_STEPS, LONGEST, FEATURES), draw(MOST_STEPS)
        shapes = (FEATURES, hidden), (hidden, hidden), (hidden,)
        self.reading, self.mixing, self.output = ((0.5 * draw(*shape)).requires_grad_() for shape in shapes)
        self.state = torch.zeros(hidden, dtype=torch.float64)
        self.first = self.previous = None
        self.average = torch.zeros((), dtype=torch.float64)
        self.count, self.log = 0, []
        self.saved = weakref.WeakSet()
        self.saved_bytes = 0

    def step(self, length):
        """One forward and one backward pass: nodes run, bytes saved, bytes held afterwards, and the loss."""
        if not 0 <= length <= LONGEST or self.count >= MOST_STEPS:
            raise ValueError("no such step")
        length = length or self.program["lengths"][self.count]
        self.count += 1
        self.saved_bytes = 0
        with torch.autograd.graph.saved_tensors_hooks(self.note, lambda kept: kept.tensor):
            loss = self.compute_loss(length)
        nodes = count_nodes(loss)
        loss.backward(retain_graph=self.program["retain"])
        value = loss.item()
        if self.program["log"]:
            self.log.append(loss)
        del loss
        return [nodes, self.saved_bytes, sum(kept.tensor.nbytes for kept in self.saved), value]

    def note(self, tensor):
        kept = Saved(tensor)
        self.saved.add(kept)
        self.saved_bytes += tensor.nbytes
        return kept

    def compute_loss(self, length):
        state = self.carry_over()
        iterations = 1
        if self.program["slower_every"]:
            iterations += (self.count - 1) // self.program["slower_every"]
        for reading in self.table[self.count - 1, :length] @ self.reading:
            for _ in range(iterations):
                state = torch.tanh(reading + self.mixing @ state)
        loss = (state @ self.output - self.targets[self.count - 1]).square()
        for name, keeps, period, phase in self.program["terms"]:
            term = getattr(self, name)(state, keeps)
            if term is not None and self.count % period == phase:
                loss = loss + 0.1 * term
        self.remember(state)
        return loss

    def remember(self, state):
        """For later steps: the state with its history only where a later step makes use of that."""
        kept = {name for name, keeps, *_ in self.program["terms"] if keeps}
        self.state = state if self.program["carries"] == "history" else state.detach()
        self.previous = state if "smoothness" in kept else state.detach()
        if self.first is None:
            self.first = state if "distance" in kept else state.detach()

    def carry_over(self):
        """The state that a step begins with: zeros, the last step's, or the last step's without its history."""
        period, phase = self.program["window"]
        if self.program["carries"] == "nothing":
            return torch.zeros_like(self.state)
        return self.state.detach() if self.count % period == phase else self.state

    def smoothness(self, state, keeps):
        return None if self.previous is None else (state - self.previous).square().mean()

    def distance(self, state, keeps):
        return None if self.first is None else (state - self.first).square().mean()

    def energy(self, state, keeps):
        before = self.average if keeps else self.average.detach()
        self.average = 0.5 * before + state.square().mean()
        return self.average

    def weights(self, state, keeps):
        return self.mixing.square().sum()

    def total(self, state, keeps):
        """A term with many nodes, none of which saves a tensor."""
        return sum(state[place].sum() for place in range(len(state)))


def count_nodes(loss):
    """The nodes that lead from the loss to the leaves: a backward pass runs each of them once."""
    found, open_nodes = {loss.grad_fn}, [loss.grad_fn]
    while open_nodes:
        for node, _ in open_nodes.pop().next_functions:
            if node is not None and node not in found:
                found.add(node)
                open_nodes.append(node)
    return len(found)
