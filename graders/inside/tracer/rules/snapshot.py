"""Copies what one step of backward worked with, so that its formula can be run when the program is over."""

from dataclasses import dataclass
from typing import Any

import torch

from ..graph import Row
from ..tape import Event

Gradients = tuple[torch.Tensor | None, ...]


@dataclass(slots=True)
class Kept:
    """One node's step. Small tensors are copies, because the program may change them.

    Of a large one only the shape is kept, as a tensor on the meta device.
    """

    row: Row
    event: Event
    slots: dict[str, Any]
    incoming: Gradients
    outgoing: Gradients
    sizes: tuple[tuple[int, ...], ...]
    is_small: bool


_names_of_type: dict[type, tuple[tuple[str, str, bool], ...]] = {}


def list_names(kind: type) -> tuple[tuple[str, str, bool], ...]:
    """For each thing that nodes of a type save: its name, the attribute to read, whether that is a saved tensor.

    `_saved_x` of a tensor would run unpack hooks; `_raw_saved_x` does not.
    """
    known = _names_of_type.get(kind)
    if known is None:
        attributes = dir(kind)
        raw = {name.removeprefix("_raw_saved_") for name in attributes if name.startswith("_raw_saved_")}
        plain = {name.removeprefix("_saved_") for name in attributes if name.startswith("_saved_")} - raw
        known = _names_of_type[kind] = (
            *((name, f"_raw_saved_{name}", True) for name in sorted(raw)),
            *((name, f"_saved_{name}", False) for name in sorted(plain)),
        )
    return known


def copy_slots(node: Any, most_items: int) -> dict[str, Any]:
    """What the node saved. Raises TypeError where a hook of the program holds some of it."""
    slots: dict[str, Any] = {}
    for name, attribute, is_tensor in list_names(type(node)):
        value = getattr(node, attribute)
        if not is_tensor:
            slots[name] = value
        elif isinstance(value, (tuple, list)):
            slots[name] = tuple(None if each is None else copy(each.data, most_items) for each in value)
        else:
            slots[name] = None if value is None else copy(value.data, most_items)
    return slots


def copy(tensor: Any, most_items: int) -> Any:
    """A small tensor's copy, a large one's shape. Raises TypeError where a hook packed something else."""
    if tensor is None:
        return None
    if not isinstance(tensor, torch.Tensor) or tensor.layout != torch.strided:
        raise TypeError("a saved tensor was packed by a hook, or is sparse")
    return tensor.clone() if tensor.numel() <= most_items else torch.empty_like(tensor, device="meta")
