"""Decides between two explanations for a backward pass that grows: the past, or the step itself."""


def reaches_back(make):
    """Whether the backward pass of some step goes on into the graphs of earlier steps."""
    step = make()
    first = step(2)
    later = [step(2) for _ in range(10)]
    return any(profile.nodes / profile.saved > 1.3 * first.nodes / first.saved for profile in later)
