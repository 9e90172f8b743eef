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


_slots_of_type: dict[type, tuple[str, ...]] = {}


def read_saved(node: Any) -> tuple[Saved, ...]:
    """The slots that the node holds now; released slots are left out."""
    kind = type(node)
    slots = _slots_of_type.get(kind)
    if slots is None:
        slots = _slots_of_type[kind] = tuple(name for name in dir(kind) if name.startswith("_raw_saved_"))
    found: list[Saved] = []
    for slot in slots:
        try:
            raw = getattr(node, slot)
        except RuntimeError:
            continue  # released: an earlier backward has run
        label = slot.removeprefix("_raw_saved_")
        if isinstance(raw, (tuple, list)):
            found.extend(_read_slots(label, raw))
        elif raw is not None:
            _add_slot(found, label, raw.data)
    return tuple(found)


def _read_slots(label: str, raws: Any) -> list[Saved]:
    found: list[Saved] = []
    for at, raw in enumerate(raws):
        if raw is not None:
            _add_slot(found, f"{label}[{at}]", raw.data)
    return found


def _add_slot(found: list[Saved], label: str, held: Any) -> None:
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
    shape = tuple(tensor.shape)
    if tensor.layout != torch.strided:
        return Saved(label, id(tensor), _count_sparse(tensor), shape)
    try:
        storage = tensor.untyped_storage()
    except (RuntimeError, NotImplementedError):
        return Saved(label, id(tensor), 0, shape)
    return Saved(label, storage._cdata, storage.nbytes(), shape)


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
