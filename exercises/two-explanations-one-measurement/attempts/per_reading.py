"""Decides between two explanations for a backward pass that grows: the past, or the step itself."""


def reaches_back(make):
    """Whether the backward pass of some step goes on into the graphs of earlier steps."""
    step = make()
    ratios = [step(length).nodes / length for length in (4, 4, 4, 4, 4, 4)]
    return max(ratios[1:]) > 1.2 * ratios[0]
