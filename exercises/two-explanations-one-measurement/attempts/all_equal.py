"""Decides between two explanations for a backward pass that grows: the past, or the step itself."""


def reaches_back(make):
    """Whether the backward pass of some step goes on into the graphs of earlier steps."""
    step = make()
    return len({step(4).nodes for _ in range(8)}) > 1
