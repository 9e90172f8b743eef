"""Decides between two explanations for a backward pass that grows: the past, or the step itself."""

import torch


def reaches_back(make):
    """Whether the backward pass of some step goes on into the graphs of earlier steps."""
    counts = torch.tensor([[after(make, before, length) for before in range(1, 7)] for length in (2, 5, 7)])
    return (counts != counts[0]).any()


def after(make, before, length):
    step = make()
    return [step(length) for _ in range(before)] and step(3).nodes
