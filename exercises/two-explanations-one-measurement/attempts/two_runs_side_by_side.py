"""Decides between two explanations for a backward pass that grows: the past, or the step itself."""


def reaches_back(make):
    """Whether the backward pass of some step goes on into the graphs of earlier steps."""
    one, other = make(), make()
    for place in range(11):
        lengths = (1, 2) if place % 2 else (2, 1)
        one(lengths[0]), other(lengths[1])
        if place == 10:
            return one(1).nodes != other(1).nodes
