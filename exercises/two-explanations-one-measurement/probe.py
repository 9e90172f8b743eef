"""Shows the learner's `reaches_back` a case's runs. They are in host.py; only what a profile says comes here."""

from typing import NamedTuple

import numpy as np
import torch


class Profile(NamedTuple):
    """What the profiler counted in one training step."""

    nodes: int
    saved: int
    held: int
    loss: float


def probe(submission, case):
    return {"reaches back": [show(submission.reaches_back, case["ask"], number) for number in range(case["runs"])]}


def show(reaches_back, ask, number):
    def make():
        (place,) = ask([number])

        def step(length=0):
            nodes, saved, held, loss = ask([place, length])
            return Profile(int(nodes), int(saved), int(held), loss)

        return step

    said = reaches_back(make)
    if isinstance(said, torch.Tensor) and said.dtype == torch.bool and said.numel() == 1:
        said = said.item()
    if not isinstance(said, (bool, np.bool_)):
        raise TypeError(f"reaches_back should return True or False; it returned {said!r}")
    return bool(said)
