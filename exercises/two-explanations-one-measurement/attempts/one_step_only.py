"""Decides between two explanations for a backward pass that grows: the past, or the step itself."""


def reaches_back(make):
    """Whether the backward pass of some step goes on into the graphs of earlier steps."""
    return nodes_after(make, [1, 1, 1]) != nodes_after(make, [5, 5, 5])


def nodes_after(make, lengths):
    step = make()
    for length in lengths:
        step(length)
    return step(1).nodes
