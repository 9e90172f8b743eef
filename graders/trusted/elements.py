"""The elements of an answer, and what a case calls them."""

import json
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

Shapes = Mapping[str, Sequence[int]]
"""The parts of an answer in their order, each with its shape; [] is a single element."""


def as_elements(value: Any) -> Any:
    """Any value as an array of comparable elements; a list of texts arrives as JSON."""
    if not isinstance(value, str):
        return np.asarray(value)
    try:
        told = json.loads(value) if value.startswith("[") else value
    except (ValueError, RecursionError):
        told = value
    if not (isinstance(told, list) and all(isinstance(each, str) for each in told)):
        return np.array(value, object)
    return np.array(told, object)


def find_label(shapes: Shapes, place: int) -> str:
    """The part of an answer that its element at `place` belongs to, with its index there: "weight[0, 1]"."""
    for label, shape in shapes.items():
        size = prod(shape)
        if place < size:
            index = ", ".join(str(int(number)) for number in np.unravel_index(place, tuple(shape)))
            return f"{label}[{index}]" if index else label
        place -= size
    return ""


def count_labelled(shapes: Shapes) -> int:
    """How many elements have a label."""
    return sum(prod(shape) for shape in shapes.values())
