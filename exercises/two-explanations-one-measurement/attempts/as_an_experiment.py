"""Decides between two explanations for a backward pass that grows: the past, or the step itself."""


class Experiment:
    """One step of a training run, after different pasts."""

    def __init__(self, make):
        self.make = make

    def depends_on_the_past(self, number):
        return len({self.measure(number, length) for length in (1, 2, 3)}) > 1

    def measure(self, number, length):
        step = self.make()
        for _ in range(number - 1):
            step(length)
        return step(5).nodes


def reaches_back(make):
    """Whether the backward pass of some step goes on into the graphs of earlier steps."""
    experiment = Experiment(make)
    return any(experiment.depends_on_the_past(number) for number in range(2, 8))
