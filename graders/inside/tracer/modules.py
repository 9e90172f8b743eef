"""Watches module calls through torch's global hooks, to attribute each node to the module that made it."""

import sys
from typing import Any

from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

from .listening import read_counter
from .recorder import Recorder


class ModuleWatch:
    """Global hooks with always_call: a hook on a module itself would disable that module's fast path."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._handles: list[Any] = []

    def install(self) -> None:
        self._handles = [
            register_module_forward_pre_hook(self._enter),
            register_module_forward_hook(self._leave, always_call=True),
        ]

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()

    def _enter(self, module: Any, args: Any) -> None:
        recorder = self._recorder
        if recorder.is_here():
            recorder.modules.enter(
                module, lambda part: recorder.find_module_name(part, sys._getframe(1)), read_counter()
            )

    def _leave(self, module: Any, args: Any, result: Any) -> None:
        if self._recorder.is_here():
            self._recorder.modules.leave(module, read_counter())
