"""Decides between two explanations for a backward pass that grows: the past, or the step itself."""


def reaches_back(make):
    """Whether the backward pass of some step goes on into the graphs of earlier steps."""
    return any(loss_after(make, [1] * before) != loss_after(make, [2] * before) for before in range(1, 6))


def loss_after(make, lengths):
    step = make()
    for length in lengths:
        step(length)
    return step(1).loss
