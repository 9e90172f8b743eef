"""Decides between two explanations for a backward pass that grows: the past, or the step itself."""


def reaches_back(make):
    """Whether the backward pass of some step goes on into the graphs of earlier steps."""
    # Number and length of the measured step stay the same, and only the records before it change. Any five steps in a
    # row contain one that reaches back, if any does.
    return any(nodes_after(make, [1] * before) != nodes_after(make, [2] * before) for before in range(1, 6))


def nodes_after(make, lengths):
    """The nodes that backward runs in a step with one reading, after steps with records of these lengths."""
    step = make()
    for length in lengths:
        step(length)
    return step(1).nodes
