"""The tensors that a node saved for backward: names, storages and bytes, read without running unpack hooks.

`_saved_*` attributes run unpack hooks, and would re-run a checkpointed forward; `_raw_saved_*.data` has no effect.
"""

from typing import Any, NamedTuple

import torch
from torch.utils.checkpoint import _Holder as CheckpointHolder


class Saved(NamedTuple):
    """One saved slot. `key` names the storage while it is held; `holder` is the id of a checkpoint's empty slot.

    `owner` is the leaf whose memory it is, if any.
    """

    label: str
    key: int | None
    nbytes: int
    shape: tuple[int, ...]
    holder: int | None = None
    owner: Any = None


_make = tuple.__new__
"""What a named tuple's own constructor comes to; this runs for each saved tensor of a graph."""
_STRIDED = torch.strided
_slots_of_type: dict[type, tuple[tuple[str, str], ...]] = {}


def list_slots(kind: type) -> tuple[tuple[str, str], ...]:
    """For each tensor that nodes of a type save: the attribute to read, and torch's name for it."""
    slots = _slots_of_type.get(kind)
    if slots is None:
        names = [name for name in dir(kind) if name.startswith("_raw_saved_")]
        slots = _slots_of_type[kind] = tuple((name, name.removeprefix("_raw_saved_")) for name in names)
    return slots


def read_saved(node: Any) -> tuple[Saved, ...]:
    """The slots that the node holds now; released slots are left out."""
    slots = _slots_of_type.get(type(node))
    if slots is None:
        slots = list_slots(type(node))
    if not slots:
        return ()
    found: list[Saved] = []
    for attribute, label in slots:
        try:
            raw = getattr(node, attribute)
        except RuntimeError:
            continue  # released: an earlier backward has run
        if raw is None:
            continue
        if isinstance(raw, (tuple, list)):
            found.extend(_read_slots(label, raw))
            continue
        held = raw.data
        if type(held) is torch.Tensor and held.layout is _STRIDED:
            found.append(_describe_strided(label, held))
        else:
            _add_slot(found, label, held)
    return tuple(found)


def _read_slots(label: str, raws: Any) -> list[Saved]:
    found: list[Saved] = []
    for at, raw in enumerate(raws):
        if raw is not None:
            _add_slot(found, f"{label}[{at}]", raw.data)
    return found


def _add_slot(found: list[Saved], label: str, held: Any) -> None:
    if type(held) is torch.Tensor:
        found.append(describe_saved(label, held))
        return
    if held is None:
        return
    if isinstance(held, CheckpointHolder):
        found.append(Saved(label, None, 0, (), holder=id(held)))
        return
    if not isinstance(held, torch.Tensor):
        found.append(Saved(label, None, 0, ()))  # packed by the program's own saved-tensor hook
        return
    found.append(describe_saved(label, held))


def describe_saved(label: str, tensor: torch.Tensor) -> Saved:
    """The tensor's slot, with its storage's identity and size in bytes."""
    if tensor.layout is not _STRIDED:
        return Saved(label, id(tensor), _count_sparse(tensor), tuple(tensor.shape))
    return _describe_strided(label, tensor)


def _describe_strided(label: str, tensor: torch.Tensor) -> Saved:
    shape = tuple(tensor.shape)
    try:
        storage = tensor.untyped_storage()
    except (RuntimeError, NotImplementedError):
        return Saved(label, id(tensor), 0, shape)
    return _make(Saved, (label, storage._cdata, storage.nbytes(), shape, None, None))


def _count_sparse(tensor: torch.Tensor) -> int:
    if tensor.layout != torch.sparse_coo:
        return 0
    parts = (tensor._indices(), tensor._values())
    return sum(part.untyped_storage().nbytes() for part in parts)


def write_bytes(nbytes: int) -> str:
    """A number of bytes in readable units: 512 B, 4.1 kB, 2.0 MB."""
    if nbytes < 1000:
        return f"{nbytes} B"
    size, unit = nbytes / 1000, "kB"
    for larger in ("MB", "GB", "TB"):
        if size < 1000:
            break
        size, unit = size / 1000, larger
    return f"{size:.1f} {unit}"
