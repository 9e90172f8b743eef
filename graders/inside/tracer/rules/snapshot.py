"""Copies what one step of backward worked with, so that its formula can be run when the program is over."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

from ..graph import Row
from ..tape import Event

FEW = 12
Gradients = tuple[torch.Tensor | None, ...]


@dataclass(slots=True)
class Kept:
    """One node's step. Tensors are copies, or what `revive` makes one from, because the program may change them."""

    row: Row
    event: Event
    slots: dict[str, Any]
    incoming: tuple[Any, ...]
    outgoing: tuple[Any, ...]
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


class Noted(NamedTuple):
    """A tensor of few numbers, or of so many that only its shape is kept: less work than a copy."""

    shape: Any
    dtype: Any
    values: Any = None


def copy(tensor: Any, most_items: int) -> Any:
    """A small tensor's copy, a large one's shape. Raises TypeError where a hook packed something else."""
    if tensor is None:
        return None
    if not isinstance(tensor, torch.Tensor) or tensor.layout != torch.strided:
        raise TypeError("a saved tensor was packed by a hook, or is sparse")
    items = tensor.numel()
    if items > most_items:
        return Noted(tensor.shape, tensor.dtype)
    return Noted(tensor.shape, tensor.dtype, tensor.tolist()) if items <= FEW and tensor.is_cpu else tensor.clone()


def copy_gradients(tensors: Any, seen: Any, most_items: int) -> tuple[Any, ...]:
    """Copies of gradients, from the numbers that the tape has of them where it has."""
    return tuple(
        Noted(tensor.shape, tensor.dtype, data)
        if tensor is not None and type(data) is list and tensor.is_cpu
        else copy(tensor, most_items)
        for tensor, (_, data) in zip(tensors, seen, strict=True)
    )


def revive(thing: Any) -> Any:
    """What was copied, as tensors again; a large one is on the meta device."""
    if type(thing) is Noted:
        if thing.values is None:
            return torch.empty(thing.shape, dtype=thing.dtype, device="meta")
        return torch.tensor(thing.values, dtype=thing.dtype).reshape(thing.shape)
    return tuple(map(revive, thing)) if type(thing) is tuple else thing
