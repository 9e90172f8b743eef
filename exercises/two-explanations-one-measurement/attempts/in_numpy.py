"""Decides between two explanations for a backward pass that grows: the past, or the step itself."""

import numpy as np


def reaches_back(make):
    """Whether the backward pass of some step goes on into the graphs of earlier steps."""
    short, long = (np.array([count(make, length, before) for before in range(1, 12)]) for length in (1, 8))
    return (short != long).any()


def count(make, length, before):
    step = make()
    for _ in range(before):
        step(length)
    return step(4).nodes
