"""Runs what torch.compile made without the listener: with it, the compiler would cut a function into other pieces."""

import functools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import torch
from torch.overrides import _get_current_function_mode_stack, _pop_mode, _push_mode

from .listening import Listener, find_frame, read_counter
from .recorder import Recorder

DYNAMO = "torch._dynamo.eval_frame"


class CompileWatch:
    """Wraps torch.compile, and what it returns, for the time of a recording.

    Each compiled call is one node of autograd's, and has the place of the call.
    """

    def __init__(self, recorder: Recorder, listener: Listener) -> None:
        self._recorder = recorder
        self._listener = listener
        self._compile: Any = None
        self._call: Any = None

    def install(self) -> None:
        module: Any = torch
        self._compile = original = module.compile

        @functools.wraps(original)
        def compile_apart(*args: Any, **kwargs: Any) -> Any:
            self._watch_dynamo()
            return original(*args, **kwargs)

        module.compile = compile_apart
        if DYNAMO in sys.modules:
            self._watch_dynamo()

    def remove(self) -> None:
        module: Any = torch
        module.compile = self._compile
        if self._call is not None:
            sys.modules[DYNAMO]._TorchDynamoContext.__call__ = self._call
            self._call = None

    def _watch_dynamo(self) -> None:
        if self._call is not None:
            return
        # Only here: it takes a second to import, and few programs compile.
        from torch._dynamo import eval_frame  # noqa: PLC0415

        context: Any = eval_frame._TorchDynamoContext
        original = self._call = context.__call__

        def call(self_: Any, function: Any) -> Any:
            compiled = original(self_, function)
            return self._set_apart(compiled) if type(compiled) is FunctionType else compiled

        context.__call__ = call

    def _set_apart(self, compiled: FunctionType) -> Any:
        recorder = self._recorder

        @functools.wraps(compiled)
        def run(*args: Any, **kwargs: Any) -> Any:
            if not recorder.is_here() or recorder.is_apart:
                return compiled(*args, **kwargs)
            frame = find_frame(sys._getframe(1), recorder.filename)
            recorder.calls.enter(read_counter(), recorder.make_site(frame, compiled))
            recorder.note_once("Compiled code (torch.compile) is shown as one node for each call.")
            recorder.is_apart = True
            try:
                with set_aside(self._listener):
                    return compiled(*args, **kwargs)
            finally:
                recorder.is_apart = False
                recorder.calls.leave(read_counter())

        return run


@contextmanager
def set_aside(listener: Listener) -> Iterator[None]:
    """Without the listener, where it is the innermost mode; a mode of the program's own around it stays."""
    stack = _get_current_function_mode_stack()
    if not stack or stack[-1] is not listener:
        yield
        return
    _pop_mode()
    try:
        yield
    finally:
        _push_mode(listener)
