"""Watches nn.Parameter: made of a computed tensor, it is a new leaf, and the graph behind the tensor is cut off."""

import sys
from typing import Any

import torch

from .cuts import Cut
from .listening import note_cut
from .recorder import Recorder


class ParameterWatch:
    """Wraps `Parameter.__new__` during a recording, because it calls no torch function that could be heard."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._original = torch.nn.Parameter.__dict__["__new__"]

    def install(self) -> None:
        recorder, original = self._recorder, self._original

        def make(cls: Any, data: Any = None, *args: Any, **kwargs: Any) -> Any:
            if isinstance(data, torch.Tensor) and data.grad_fn is not None and recorder.is_here():
                note_cut(recorder, Cut("parameter", data), torch.nn.Parameter, sys._getframe(1))
            return original(cls, data, *args, **kwargs)

        parameter: Any = torch.nn.Parameter
        parameter.__new__ = make

    def remove(self) -> None:
        parameter: Any = torch.nn.Parameter
        parameter.__new__ = self._original
