"""Decides between two explanations for a backward pass that grows: the past, or the step itself."""


def reaches_back(make):
    """Whether the backward pass of some step goes on into the graphs of earlier steps."""
    one, other = make(), make()
    one(1), other(6)
    return any(one(2).nodes != other(2).nodes for _ in range(10))
