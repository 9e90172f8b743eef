"""Decides between two explanations for a backward pass that grows: the past, or the step itself."""


def reaches_back(make):
    """Whether the backward pass of some step goes on into the graphs of earlier steps."""
    step = make()
    held = [step(3).held for _ in range(12)]
    return held[-1] > held[0]
