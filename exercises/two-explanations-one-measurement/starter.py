"""Decides between two explanations for a backward pass that grows: the past, or the step itself."""


def reaches_back(make):
    """Whether the backward pass of some step goes on into the graphs of earlier steps. See the text."""
    step = make()
    first, *_, last = [step() for _ in range(12)]
    return last.nodes > first.nodes
