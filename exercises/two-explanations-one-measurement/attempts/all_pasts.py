"""Decides between two explanations for a backward pass that grows: the past, or the step itself."""

import itertools


def reaches_back(make):
    """Whether the backward pass of some step goes on into the graphs of earlier steps."""
    for before in range(1, 6):
        pasts = itertools.product((1, 3), repeat=before)
        if len({run(make(), [*past, 2]) for past in pasts}) > 1:
            return True
    return False


def run(step, lengths):
    *_, last = map(step, lengths)
    return last.nodes
