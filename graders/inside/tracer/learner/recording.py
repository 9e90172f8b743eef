"""One recording of a learner's engine: `with record(source, filename, namespace) as tape`, then `tape.document()`."""

import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType, FunctionType, TracebackType
from typing import Any

from ..caps import Caps
from ..fitting import fit_document
from ..loops import find_loop_names
from ..positions import Site
from ..scopes import CO_OPTIMIZED, read_locals
from ..tracebacks import drop_own_frames
from .document import write_document
from .protocol import is_value, read_attribute, read_numbers
from .rows import Entry, Row, Rows
from .runners import find_runner
from .variables import iterate_values
from .watching import Changes, ClassHook, Gate, watch_grad, wrap_backward, wrap_init

MAX_NODES = 20_000
MAX_NAMED_CALLS = 100


class Recording:
    """Watches between enter and exit. Values made meanwhile remain alive until the recording is released."""

    def __init__(self, source: str, filename: str, namespace: dict[str, Any], caps: Caps) -> None:
        self._source = source
        self._filename = filename
        self._namespace = namespace
        self._module = str(namespace.get("__name__"))
        self._caps = caps
        self._loop_names = find_loop_names(source)
        self._rows = Rows()
        self._log: list[Entry] = []
        self._notes: list[str] = []
        self._changes = Changes()
        self._gate = Gate(self._note_change)
        self._hook = ClassHook(filename, self._meet_class)
        self._prefixes: dict[type, tuple[str, ...]] = {}
        self._watched: set[type] = set()
        self._backward: FrameType | None = None
        self._calls = 0
        self._is_open = False
        self._thread = threading.get_ident()
        self._document: dict[str, Any] | None = None

    def __enter__(self) -> "Recording":
        self._hook.install()
        self._is_open = True
        for thing in list(self._namespace.values()):
            # An engine may be imported from its own file, where a class without a backward is not an engine.
            if issubclass(type(thing), type) and (thing.__module__ == self._module or "backward" in thing.__dict__):
                self._meet_class(thing)
        for name, value in iterate_values(self._namespace, self._module, self._loop_names):
            self._watch(type(value))
            self._rows.adopt(value).variable = name
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._is_open = False
        self._hook.remove()
        self._changes.take_back()
        if error is not None:
            drop_own_frames(error)
        try:
            for variables in (*self._iterate_scopes(sys._getframe(1)), *self._list_scopes_of_error(traceback)):
                self._name(variables)
            self._note_unseen()
        except Exception as problem:  # noqa: BLE001 - the tracer's fault must not become the program's
            self._give_up(problem)

    def document(self) -> dict[str, Any]:
        """The trace as plain data, in the columns of the trace contract."""
        if self._document is None:
            whole = write_document(self._source, self._rows, self._log, self._notes, self._caps)
            self._document = fit_document(whole, self._caps)
        return self._document

    def _is_here(self) -> bool:
        return self._is_open and threading.get_ident() == self._thread

    def _note_once(self, text: str) -> None:
        if text not in self._notes:
            self._notes.append(text)

    def _give_up(self, problem: Exception) -> None:
        """Ends the recording with a note, because the tracer cannot read something; the program continues."""
        self._is_open = False
        self._note_once(f"The trace stops early: {type(problem).__name__}: {problem}"[: self._caps.max_text])

    def _meet_class(self, kind: type) -> None:
        init, backward = kind.__dict__.get("__init__"), kind.__dict__.get("backward")
        if type(init) is not FunctionType and kind.__module__ != self._module:
            return
        if type(init) is FunctionType:
            self._changes.put(kind, "__init__", wrap_init(init, self._meet))
        if type(backward) is FunctionType:
            self._changes.put(kind, "backward", wrap_backward(backward, self._enclose))

    def _meet(self, value: Any, frame: FrameType) -> None:
        """An instance has run its __init__."""
        if not self._is_here() or self._rows.find(value) is not None:
            return
        try:
            if is_value(value):
                self._add(value, frame)
        except Exception as problem:  # noqa: BLE001 - the tracer's fault must not become the program's
            self._give_up(problem)

    def _add(self, value: Any, frame: FrameType) -> None:
        if len(self._rows.known) >= min(self._caps.max_nodes, MAX_NODES):
            self._is_open = False
            self._note_once(f"Only the first {len(self._rows.known):,} values are shown.")
            return
        self._watch(type(value))
        row = self._rows.add(value, len(self._log), self._find_site(frame, type(value)))
        self._log.append(Entry("made", row))

    def _watch(self, kind: type) -> None:
        if kind in self._watched:
            return
        self._watched.add(kind)
        prefixes = (f"{base.__qualname__}." for base in kind.__mro__ if base is not object)
        self._prefixes[kind] = tuple(prefixes)
        if not watch_grad(self._changes, kind, self._gate):
            self._note_once(f"How .grad changes is not shown: {kind.__name__} computes it by code of its own."[:200])

    def _find_site(self, frame: FrameType | None, kind: type) -> Site | None:
        """The sub-expression that created the value, if possible one outside the class's own methods."""
        inner = None
        while frame is not None:
            code = frame.f_code
            if code.co_filename == self._filename:
                site = Site(code, frame.f_lasti, 0, None)
                if not code.co_qualname.startswith(self._prefixes[kind]):
                    return site
                inner = inner or site
            frame = frame.f_back
        return inner

    def _enclose(self, value: Any, frame: FrameType, call: Callable[[], Any]) -> Any:
        """Runs a backward; one that runs inside another is part of it."""
        if not self._is_here() or self._backward is not None or not self._begin(value, frame):
            return call()
        row, error = self._rows.adopt(value), ""
        try:
            with self._changes.lifted("backward"):
                return call()
        except BaseException as raised:
            error = f"{type(raised).__name__}: {raised}"[: self._caps.max_text]
            raise
        finally:
            self._gate.is_open = False
            self._backward = None
            if error:
                self._log.append(Entry("error", row, text=error))
            self._log.append(Entry("end", row))

    def _begin(self, value: Any, frame: FrameType) -> bool:
        try:
            if not is_value(value):
                return False
            self._watch(type(value))
            self._log.append(Entry("begin", self._rows.adopt(value)))
            self._rows.refresh_arrays()
            if self._calls < MAX_NAMED_CALLS:
                for variables in self._iterate_scopes(frame):
                    self._name(variables)
            self._calls += 1
            self._backward = frame
            self._gate.is_open = True
        except Exception as problem:  # noqa: BLE001 - the tracer's fault must not become the program's
            self._give_up(problem)
            return False
        return True

    def _iterate_scopes(self, frame: FrameType | None) -> Iterator[dict[str, Any]]:
        yield self._namespace
        while frame is not None:
            if frame.f_globals is self._namespace and frame.f_code.co_flags & CO_OPTIMIZED:
                yield read_locals(frame)
            frame = frame.f_back

    def _name(self, variables: dict[str, Any]) -> None:
        for name, value in iterate_values(variables, self._module, self._loop_names):
            row = self._rows.adopt(value)
            row.variable = row.variable or name

    def _note_change(self, value: Any, before: Any, after: Any, frame: FrameType) -> None:
        if self._backward is None or not self._is_here():
            return
        if len(self._log) >= 4 * self._caps.max_events:
            return
        try:
            row = self._rows.adopt(value)
            runner = find_runner(self._rows, row, frame, self._backward)
            held = None if runner is None else read_numbers(read_attribute(runner.value, "grad"))
            old, new = row.grad if before is after else read_numbers(before), read_numbers(after)
            row.grad = new
            self._log.append(Entry("change", row, old, new, runner, held))
        except Exception as problem:  # noqa: BLE001 - the tracer's fault must not become the program's
            self._give_up(problem)

    def _list_scopes_of_error(self, traceback: TracebackType | None) -> Iterator[dict[str, Any]]:
        while traceback is not None:
            if traceback.tb_frame.f_code.co_filename == self._filename:
                yield read_locals(traceback.tb_frame)
            traceback = traceback.tb_next

    def _note_unseen(self) -> None:
        changed = any(entry.kind == "change" for entry in self._log)
        if self._calls and not changed and any(_has_grad(row) for row in self._rows.known.values()):
            self._note_once("How .grad changed was not seen: it is not set as an attribute.")


def _has_grad(row: Row) -> bool:
    return bool(read_numbers(read_attribute(row.value, "grad")))


def record(source: str, filename: str, namespace: dict[str, Any], caps: Caps | None = None) -> Recording:
    """Record the graphs and backward passes of a learner's own engine that runs in `namespace` under `filename`."""
    return Recording(source, filename, namespace, caps or Caps())
