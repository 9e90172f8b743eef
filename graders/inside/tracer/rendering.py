"""Tensors as short text: the values of small tensors, the norm of large ones, and the shape of every one.

While the program runs, a tensor is only *seen*: its shape, with its values or with its norm as a tensor that nobody
has read yet. Text is written when the program is over.
"""

import math
from collections.abc import Iterable
from typing import Any

import torch

from .caps import Caps
from .graph import Row
from .matrices import MAX_SIDE, Matrix, is_small_matrix
from .numerals import norm_of, write_values
from .tape import Event

_norm = torch._C._linalg.linalg_vector_norm
_STRIDED = torch.strided
_SPARSE = "sparse"
_REARRANGES = frozenset(
    f"{name}Backward0"
    for name in ("T", "View", "UnsafeView", "ReshapeAlias", "Transpose", "Permute", "Squeeze", "Unsqueeze", "Clone")
)
"""Nodes that send all of what they receive, in another order: its norm stays."""

Seen = tuple[Any, Any]
"""A shape, with values, a norm in a tuple or as a tensor, "sparse", or None. (None, None) where no gradient flows."""

NOTHING: Seen = (None, None)
NO_GRAD: Seen = (None, "None")
"""A leaf's .grad before anything was added."""


class Renderer:
    """Sees gradients within the caps: values at first, then norms, then shapes. Keeps no gradient."""

    def __init__(self, caps: Caps) -> None:
        self._caps = caps
        self._valued_steps, self._normed_steps = caps.valued_steps, caps.normed_steps
        self._shapes: dict[Any, str] = {}

    def see(self, tensor: Any, step: int) -> Seen:
        """What is kept of a tensor at this step of the tape."""
        if tensor is None:
            return NOTHING
        shape = tensor.shape
        if tensor.layout is not _STRIDED:
            return shape, _SPARSE
        try:
            if step < self._valued_steps and (items := tensor.numel()) <= MAX_SIDE**2:
                if items <= self._caps.max_value_items:
                    return shape, tensor.tolist()
                if is_small_matrix(tensor):
                    return shape, Matrix(tensor.tolist())
            if step >= self._normed_steps:
                return shape, None
            norm = _norm(tensor)
            # A number is smaller than a tensor; of another device it would be waited for.
            return shape, (norm.item(),) if tensor.is_cpu else norm
        except (RuntimeError, NotImplementedError, TypeError):
            return shape, None  # batched, meta, quantized, boolean and integer tensors have shapes but no norms

    def see_grad(self, grad: Any, step: int) -> Seen:
        """What a leaf's .grad is."""
        return NO_GRAD if grad is None else self.see(grad, step)

    def see_received(self, row: Row, tensors: Any, step: int) -> tuple[Seen, ...]:
        """What a node receives: read once, where it is what another node has just sent."""
        arrived = row.arrived
        if arrived is not None:
            row.arrived = None
            if len(tensors) == 1 and type(tensor := tensors[0]) is torch.Tensor:
                seen, place, version = arrived
                if tensor.data_ptr() == place and tensor._version == version:
                    return (seen,)
        return tuple([self.see(tensor, step) for tensor in tensors])

    def see_step(
        self, row: Row, incoming: Any, outgoing: Any, step: int
    ) -> tuple[tuple[Seen, ...], tuple[Seen, ...]]:
        """What a node receives and sends.

        What it passes on is seen once, and is noted for the nodes that receive nothing else: reading a gradient takes
        longer than all else that the tape does.
        """
        received, see = self.see_received(row, incoming, step), self.see
        whole = incoming[0] if len(incoming) == 1 else None
        norm = received[0][1] if whole is not None and row.name in _REARRANGES else None
        keeps_norm = type(norm) is tuple
        sent: list[Seen] = []
        for tensor in outgoing:
            if tensor is None:
                sent.append(NOTHING)
            elif tensor is whole:
                sent.append(received[0])
            elif keeps_norm:
                sent.append((tensor.shape, norm))
            else:
                sent.append(see(tensor, step))
        for target, slot, _ in row.edges:
            if target.uses == 1 and slot < len(sent) and (seen := sent[slot])[1] is not None:
                tensor = outgoing[slot]
                if type(tensor) is torch.Tensor and seen[1] is not _SPARSE:
                    target.arrived = (seen, tensor.data_ptr(), tensor._version)
        return received, tuple(sent)

    def write(self, seen: tuple[Seen, ...]) -> tuple[str, float | None]:
        """Several gradients, one per slot, and their joint norm; each is shortened if the text would be too long."""
        parts = [self._write_part(*each) for each in seen]
        text = "; ".join(each for each, _ in parts)
        if len(text) > self._caps.max_gradients:
            text = self._join([self._shorten(each, *part) for each, part in zip(seen, parts, strict=True)])
        norms = [norm for _, norm in parts if norm is not None]
        norm = math.sqrt(sum(each * each for each in norms)) if norms else None
        return text, norms[0] if len(norms) == 1 else norm

    def write_tape(self, events: Iterable[Event]) -> None:
        """Turns what was seen in the course of the tape into text; all norms are read at once."""
        seen = [each for event in events for side in (event.received, event.sent, event.held) for each in side]
        norms = {id(each[1]): each[1] for each in seen if isinstance(each[1], torch.Tensor)}
        read = dict(zip(norms, _read_all(list(norms.values())), strict=True))

        def settle(side: tuple[Seen, ...]) -> tuple[Seen, ...]:
            return tuple((shape, (read[id(data)],)) if id(data) in read else (shape, data) for shape, data in side)

        for event in events:
            if event.received or event.sent:
                event.incoming, event.norm = self.write(settle(event.received))
                event.outgoing = self.write(settle(event.sent))[0]
                event.before = self.write(settle(event.held))[0]

    def _join(self, parts: list[str]) -> str:
        """As many whole parts as there is room for."""
        room = self._caps.max_gradients
        for count, part in enumerate(parts):
            room -= len(part) + 2
            if room < 0:
                return "; ".join(parts[:count])
        return "; ".join(parts)

    def _write_shape(self, shape: Any) -> str:
        """The shape as Python writes a tuple."""
        text = self._shapes.get(shape)
        if text is None:
            text = self._shapes[shape] = str(tuple(int(size) for size in shape))
        return text

    def _write_part(self, shape: Any, data: Any) -> tuple[str, float | None]:
        if shape is None:
            return data or "·", None
        told = self._write_shape(shape)
        if data is None:
            return told, None
        if data is _SPARSE:
            return f"{told} sparse", None
        if isinstance(data, torch.Tensor | tuple):
            norm = data[0] if isinstance(data, tuple) else data.item()
            return f"{told} ‖{norm:.3g}‖", norm
        if type(data) is Matrix:
            norm = norm_of(data)
            return f"{told} ‖{norm:.3g}‖", norm
        return f"{told} {write_values(data)}", norm_of(data)

    def _shorten(self, seen: Seen, text: str, norm: float | None) -> str:
        if seen[0] is None or norm is None or not isinstance(seen[1], list):
            return text
        return f"{self._write_shape(seen[0])} ‖{norm:.3g}‖"


def _read_all(norms: list[Any]) -> list[float]:
    """The numbers of many tensors of one element, which may be on another device: one reading for each kind."""
    kinds: dict[Any, list[int]] = {}
    for at, norm in enumerate(norms):
        kinds.setdefault((norm.dtype, norm.device), []).append(at)
    found = [0.0] * len(norms)
    for places in kinds.values():
        for at, value in zip(places, torch.stack([norms[at] for at in places]).tolist(), strict=True):
            found[at] = value
    return found
