"""Watches torch.autograd.Function.apply, because custom nodes are not made inside a torch function call."""

import sys
from typing import Any

import torch
from torch.autograd import forward_ad

from .listening import find_frame, read_counter
from .recorder import Recorder


class FunctionWatch:
    """Wraps `apply` during a recording."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._original = torch.autograd.Function.__dict__["apply"]

    def install(self) -> None:
        recorder, original = self._recorder, self._original.__func__

        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            if not recorder.is_here() or recorder.is_apart:
                return original(cls, *args, **kwargs)
            frame = find_frame(sys._getframe(1), recorder.filename)
            recorder.calls.enter(read_counter(), recorder.make_site(frame, cls))
            recorder.quiet += 1
            try:
                return original(cls, *args, **kwargs)
            finally:
                recorder.quiet -= 1
                recorder.calls.leave(read_counter())

        torch.autograd.Function.apply = classmethod(apply)

    def remove(self) -> None:
        torch.autograd.Function.apply = self._original


class ForwardModeWatch:
    """Notes that the program takes derivatives forward: what carries them is in no backward graph."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._original = forward_ad.enter_dual_level

    def install(self) -> None:
        recorder, original = self._recorder, self._original

        def enter() -> Any:
            recorder.note_once("Forward-mode derivatives (torch.autograd.forward_ad) are not shown.")
            return original()

        module: Any = forward_ad
        module.enter_dual_level = enter

    def remove(self) -> None:
        module: Any = forward_ad
        module.enter_dual_level = self._original
