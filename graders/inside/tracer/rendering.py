"""Tensors as short text: the shape, with the values of a small tensor or the norm of a large one."""

import math
from typing import Any

import torch

from .caps import Caps
from .numerals import norm_of, write_values

_norm = torch._C._linalg.linalg_vector_norm


class Renderer:
    """Writes gradients within the caps: values at first, then norms, then shapes. Keeps no tensor."""

    def __init__(self, caps: Caps) -> None:
        self._caps = caps
        self._shapes: dict[Any, str] = {}

    def write_shape(self, shape: Any) -> str:
        """The shape as Python writes a tuple."""
        text = self._shapes.get(shape)
        if text is None:
            text = self._shapes[shape] = str(tuple(int(size) for size in shape))
        return text

    def render(self, tensor: Any, step: int) -> tuple[str, float | None]:
        """The text for a tensor at this step of the tape, and its norm if it was cheap to compute."""
        if tensor is None:
            return "·", None
        shape = self.write_shape(tensor.shape)
        if tensor.layout != torch.strided:
            return f"{shape} sparse", None
        try:
            return self._render_dense(tensor, shape, step)
        except (RuntimeError, NotImplementedError, TypeError):
            # Batched, meta, quantized and boolean tensors have shapes but no numbers to read.
            return shape, None

    def render_all(self, tensors: Any, step: int) -> tuple[str, float | None]:
        """Several gradients, one per slot, and their joint norm; each is shortened if the text would be too long."""
        if len(tensors) == 1:
            text, norm = self.render(tensors[0], step)
            return text[: self._caps.max_gradients], norm
        parts = [self.render(tensor, step) for tensor in tensors]
        text = "; ".join(each for each, _ in parts)
        if len(text) > self._caps.max_gradients:
            text = self._join([self._shorten(tensor, *part) for tensor, part in zip(tensors, parts, strict=True)])
        norms = [norm for _, norm in parts if norm is not None]
        norm = math.sqrt(sum(each * each for each in norms)) if norms else None
        return text, norm

    def _join(self, parts: list[str]) -> str:
        """As many whole parts as there is room for."""
        room = self._caps.max_gradients
        for count, part in enumerate(parts):
            room -= len(part) + 2
            if room < 0:
                return "; ".join(parts[:count])
        return "; ".join(parts)

    def _shorten(self, tensor: Any, text: str, norm: float | None) -> str:
        if tensor is None or norm is None or tensor.numel() == 1:
            return text
        return f"{self.write_shape(tensor.shape)} ‖{norm:.3g}‖"

    def _render_dense(self, tensor: Any, shape: str, step: int) -> tuple[str, float | None]:
        items = tensor.numel()
        if items <= self._caps.max_value_items and step < self._caps.valued_steps:
            values = tensor.tolist()
            return f"{shape} {write_values(values)}", norm_of(values)
        if step >= self._caps.normed_steps or not (tensor.is_floating_point() or tensor.is_complex()):
            return shape, None
        norm = _norm(tensor).item()
        return f"{shape} ‖{norm:.3g}‖", norm
