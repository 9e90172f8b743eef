"""The tracer's only entry point: `with record(source, filename, namespace) as tape`, then `tape.document()`."""

import sys
from types import FrameType, TracebackType
from typing import Any

import torch

from .caps import Caps
from .checkpoints import CheckpointWatch
from .compiled import CompileWatch
from .document import write_document
from .engine import Engine
from .fitting import fit_document
from .foreign import ThreadWatch
from .functions import ForwardModeWatch, FunctionWatch
from .graph import read_root
from .idle import find_idle
from .listening import Listener, find_frame
from .modules import ModuleWatch
from .names import iterate_tensors
from .parameters import ParameterWatch
from .recorder import Recorder, is_changed_view
from .scopes import read_locals
from .tracebacks import drop_own_frames
from .warned import WarningWatch


class Recording:
    """Records between enter and exit; afterwards it holds only numbers and text."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._listener = Listener(recorder)
        self._engine = Engine(recorder, self._listener, torch.autograd.graph._engine_run_backward)
        self._watches = (
            FunctionWatch(recorder),
            ModuleWatch(recorder),
            CheckpointWatch(recorder, self._engine),
            ThreadWatch(recorder),
            ParameterWatch(recorder),
            ForwardModeWatch(recorder),
            CompileWatch(recorder, self._listener),
            WarningWatch(),
        )
        self._document: dict[str, Any] | None = None

    def __enter__(self) -> "Recording":
        for watch in self._watches:
            watch.install()
        torch.autograd.graph._engine_run_backward = self._engine
        torch.autograd._engine_run_backward = self._engine
        self._listener.__enter__()
        self._recorder.is_open = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._recorder.is_open = False
        self._listener.__exit__(kind, error, traceback)
        torch.autograd.graph._engine_run_backward = self._engine.original
        torch.autograd._engine_run_backward = self._engine.original
        for watch in reversed(self._watches):
            watch.remove()
        if error is not None:
            drop_own_frames(error)
        self._look_around(traceback, sys._getframe(1))

    def document(self) -> dict[str, Any]:
        """The trace as plain data, in the columns of the trace contract."""
        if self._document is None:
            self._document = fit_document(write_document(self._recorder), self._recorder.caps)
        return self._document

    def _look_around(self, traceback: TracebackType | None, frame: FrameType | None) -> None:
        """Finds graphs that were never unwound, from the variables that remain."""
        recorder = self._recorder
        scopes = [*recorder.iterate_scopes(frame), *_list_scopes_of_error(traceback, recorder)]
        module_name = str(recorder.namespace.get("__name__"))
        nodes = []
        for variables in scopes:
            for _, tensor in iterate_tensors(variables, module_name, recorder.loop_names):
                if tensor.grad_fn is not None and not is_changed_view(tensor):
                    nodes.append(read_root(tensor))
        recorder.note_leaf_values()
        known = len(recorder.graph.rows)
        recorder.graph.discover(nodes)
        fresh = recorder.graph.rows[known:]
        recorder.name_rows(extra=scopes[1:])
        recorder.idle = find_idle(scopes, module_name, recorder.graph, recorder.tracked)
        fed = {target for row in fresh for target, _, _ in row.edges}
        recorder.add_roots([row for row in fresh if not row.is_leaf and row not in fed])


def _list_scopes_of_error(traceback: TracebackType | None, recorder: Recorder) -> list[dict[str, Any]]:
    """The variables of the learner's functions that an error passed through."""
    scopes = []
    while traceback is not None:
        frame = traceback.tb_frame
        if find_frame(frame, recorder.filename) is frame and frame.f_locals is not recorder.namespace:
            scopes.append(read_locals(frame))
        traceback = traceback.tb_next
    return scopes


def record(source: str, filename: str, namespace: dict[str, Any], caps: Caps | None = None) -> Recording:
    """Record the autograd graphs and backward passes of a program that runs in `namespace` under `filename`."""
    return Recording(Recorder(source, filename, namespace, caps or Caps()))
