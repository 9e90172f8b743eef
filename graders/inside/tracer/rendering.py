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
from .numerals import norm_of, write_values
from .tape import Event

_norm = torch._C._linalg.linalg_vector_norm
_SPARSE = "sparse"

Seen = tuple[Any, Any]
"""A shape, with values, a norm as a tensor, "sparse", or None. (None, None) where no gradient flows."""

NOTHING: Seen = (None, None)


class Renderer:
    """Sees gradients within the caps: values at first, then norms, then shapes. Keeps no gradient."""

    def __init__(self, caps: Caps) -> None:
        self._caps = caps
        self._shapes: dict[Any, str] = {}

    def see(self, tensor: Any, step: int) -> Seen:
        """What is kept of a tensor at this step of the tape."""
        if tensor is None:
            return NOTHING
        shape = tensor.shape
        if tensor.layout != torch.strided:
            return shape, _SPARSE
        caps, items = self._caps, tensor.numel()
        try:
            if items <= caps.max_value_items and step < caps.valued_steps:
                return shape, tensor.tolist()
            if step >= caps.normed_steps or not (tensor.is_floating_point() or tensor.is_complex()):
                return shape, None
            return shape, _norm(tensor)
        except (RuntimeError, NotImplementedError, TypeError):
            return shape, None  # batched, meta, quantized and boolean tensors have shapes but no readable numbers

    def see_sent(self, row: Row, tensors: Any, step: int) -> tuple[Seen, ...]:
        """What a node sends, noted for each node that receives nothing else: it need not be read again."""
        seen = tuple([self.see(tensor, step) for tensor in tensors])
        if len(row.edges) == 1 and len(tensors) == 1 and type(tensors[0]) is torch.Tensor:
            target = row.edges[0][0]
            if target.uses == 1 and seen[0][1] is not None and seen[0][1] is not _SPARSE:
                target.arrived = (seen, tensors[0].data_ptr(), tensors[0]._version)
        return seen

    def see_received(self, row: Row, tensors: Any, step: int) -> tuple[Seen, ...]:
        """What a node receives: read once, where it is what another node has just sent."""
        seen: Any
        seen, *place = row.arrived or (None,)
        row.arrived = None
        is_one = seen is not None and len(tensors) == 1 and type(tensors[0]) is torch.Tensor
        if is_one and [tensors[0].data_ptr(), tensors[0]._version] == place:
            return tuple(seen)
        return tuple([self.see(tensor, step) for tensor in tensors])

    def render(self, tensor: Any, step: int) -> tuple[str, float | None]:
        """A tensor as text, and its norm if it was cheap to compute."""
        return self.write((self.see(tensor, step),))

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
        seen = [each for event in events for side in (event.received, event.sent) for each in side]
        norms = {id(each[1]): each[1] for each in seen if isinstance(each[1], torch.Tensor)}
        read = dict(zip(norms, _read_all(list(norms.values())), strict=True))

        def settle(side: tuple[Seen, ...]) -> tuple[Seen, ...]:
            return tuple(
                (shape, _Norm(read[id(data)])) if id(data) in read else (shape, data) for shape, data in side
            )

        for event in events:
            if event.received:
                event.incoming, event.norm = self.write(settle(event.received))
                event.outgoing = self.write(settle(event.sent))[0]
                event.received = event.sent = ()

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
            return "·", None
        told = self._write_shape(shape)
        if data is None:
            return told, None
        if data is _SPARSE:
            return f"{told} sparse", None
        if isinstance(data, torch.Tensor | _Norm):
            norm = data.item()
            return f"{told} ‖{norm:.3g}‖", norm
        return f"{told} {write_values(data)}", norm_of(data)

    def _shorten(self, seen: Seen, text: str, norm: float | None) -> str:
        if seen[0] is None or norm is None or not isinstance(seen[1], list):
            return text
        return f"{self._write_shape(seen[0])} ‖{norm:.3g}‖"


class _Norm:
    """A norm that was read together with all others."""

    __slots__ = ("_value",)

    def __init__(self, value: float) -> None:
        self._value = value

    def item(self) -> float:
        return self._value


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
