"""Gives warnings their right place: a warning raised below the tracer's frames would name the tracer's own file."""

import sys
import warnings
from pathlib import Path
from types import FrameType
from typing import Any

from .tracebacks import is_detour, is_way_to_detour

_HERE = str(Path(__file__).parent)


class WarningWatch:
    """Catches each warning before it is shown, and issues it again at the line that an untraced run would name.

    It is issued again, not just renamed, so that the program's filters and its registry of shown warnings apply.
    """

    def __init__(self) -> None:
        self._original: Any = None
        self._ours = self._show

    def install(self) -> None:
        module: Any = warnings
        self._original, module._showwarnmsg = module._showwarnmsg, self._ours

    def remove(self) -> None:
        module: Any = warnings
        if module._showwarnmsg is self._ours:
            module._showwarnmsg = self._original

    def _show(self, message: Any) -> None:
        frame = find_place(sys._getframe(1)) if message.filename.startswith(_HERE) else None
        if frame is None:
            self._original(message)
            return
        forget_shown()
        warnings.warn_explicit(
            message.message,
            message.category,
            frame.f_code.co_filename,
            frame.f_lineno,
            frame.f_globals.get("__name__") or "<unknown>",
            frame.f_globals.setdefault("__warningregistry__", {}),
            frame.f_globals,
            message.source,
        )


def find_place(frame: FrameType | None) -> FrameType | None:
    """The frame that called into the tracer, skipping torch's own frames; None if the tracer is not running."""
    while frame is not None and not is_detour(frame.f_code):
        frame = frame.f_back
    while frame is not None and is_detour(frame.f_code):
        # A torch function written in Python passes itself to the tracer, so it is on the stack twice.
        is_second = is_way_to_detour(frame.f_code)
        frame = frame.f_back
        if is_second and frame is not None:
            frame = frame.f_back
    return frame


def forget_shown() -> None:
    """Clears Python's registry of shown warnings, kept by file and line: our line stands for many program lines."""
    for name, module in list(sys.modules.items()):
        if name.startswith(__package__ or "tracer"):
            vars(module).get("__warningregistry__", {}).clear()
