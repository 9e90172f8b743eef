"""Decides between two explanations for a backward pass that grows: the past, or the step itself."""


def reaches_back(make):
    """Whether the backward pass of some step goes on into the graphs of earlier steps."""
    return any(nodes_after(make, [8] * before) > 3 * nodes_after(make, [1] * before) for before in range(1, 6))


def nodes_after(make, lengths):
    step = make()
    for length in lengths:
        step(length)
    return step(8).nodes
