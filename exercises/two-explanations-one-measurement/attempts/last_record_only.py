"""Decides between two explanations for a backward pass that grows: the past, or the step itself."""


def reaches_back(make):
    """Whether the backward pass of some step goes on into the graphs of earlier steps."""
    pasts = [[1] * before for before in range(1, 6)]
    return any(nodes_after(make, past) != nodes_after(make, [*past[:-1], 4]) for past in pasts if len(past) > 1)


def nodes_after(make, lengths):
    step = make()
    for length in lengths:
        step(length)
    return step(1).nodes
