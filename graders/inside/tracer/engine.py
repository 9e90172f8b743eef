"""Watches one run of the backward engine: walk the graph, hook its nodes, run, unhook.

Hooks read numbers from gradients but keep no gradient, because the engine could not reuse a held one.
"""

import functools
import sys
from collections.abc import Callable
from threading import get_ident
from typing import Any

import torch
from torch.overrides import _get_current_function_mode_stack

from .collecting import without_collecting
from .foreign import tag_born
from .graph import AccumulateGrad, Row, read_root
from .listening import Listener, find_frame, read_counter
from .recorder import Asked, Recorder, Region

CHECKPOINT_NODE = "CheckpointFunctionBackward"
RECOMPUTES = "the checkpointed region runs its forward again"
HOOKED = "a hook ran on this gradient first"
HOOKED_AFTER = "then a hook ran"


def is_compiling() -> bool:
    """Whether torch.compile runs the program with tensors that have no numbers, to see what it does."""
    return torch._guards.TracingContext.try_get() is not None


class BackwardRun:
    """One call of backward or grad: its hooks, and the node that is running now."""

    def __init__(self, recorder: Recorder, call: int, keeps_graph: bool) -> None:
        self._recorder = recorder
        self._call = call
        self._keeps_graph = keeps_graph
        self._thread = get_ident()
        self._handles: list[Any] = []
        self._befores: dict[Row, str] = {}
        self._nodes: dict[Row, Any] = {}
        self._done: Row | None = None
        self.running: Row | None = None
        self.began = 0

    def hook(self, walked: list[tuple[Any, Row]]) -> None:
        """Hooks every node or, if the tape is nearly full, only those that run first."""
        if self._recorder.tape.is_full:
            return
        left = self._recorder.tape.count_left(self._recorder.graph.operations)
        if len(walked) > left:
            self._recorder.tape.is_full = True
            walked = sorted(walked, key=lambda pair: -pair[1].sequence)[: max(0, left)]
        for node, row in walked:
            starts, ran = (
                (self._start_leaf, self._ran_leaf) if type(node) is AccumulateGrad else (self._start, self._ran)
            )
            self._nodes[row] = node
            self._handles.append(node.register_prehook(functools.partial(starts, row)))
            self._handles.append(node.register_hook(functools.partial(ran, row)))

    def unhook(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        self._nodes.clear()
        self.settle()

    def settle(self) -> None:
        """Notes a release at the next step, because the engine releases a node's saved tensors after its hooks."""
        done, self._done = self._done, None
        if done is not None and not self._keeps_graph:
            self._recorder.free(done)

    def _start(self, row: Row, incoming: Any) -> None:
        self.settle()
        self.running, self.began = row, read_counter()

    def _ran(self, row: Row, outgoing: Any, incoming: Any) -> None:
        asked = self._recorder.asked.get(row.sequence)
        node = self._nodes.pop(row, None)
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch(), torch.no_grad():
            text, norm = self._render_all(incoming)
            if asked is not None and asked.keeper is not None:
                self._keep(row, asked, text, norm)
            event = self._recorder.add_event(
                "vjp",
                row,
                call=self._call,
                norm=norm,
                incoming=text,
                outgoing=self._render_all(outgoing)[0],
                text=HOOKED if asked is not None and asked.is_hooked else "",
            )
            if not row.is_custom:
                self._recorder.rules.keep(node, row, event, (incoming, outgoing))
        self._reach(row, outgoing)
        self._done, self.running = row, None

    def _keep(self, row: Row, asked: Asked, text: str, norm: float | None) -> None:
        """A tensor that retains its gradient has it now."""
        tensor = asked.keeper()
        if tensor is not None and tensor.grad is not None:
            after = self._render_all((tensor.grad,))[0]
            self._recorder.add_event("retain", row, call=self._call, norm=norm, incoming=text, outgoing=after)

    def _start_leaf(self, row: Row, incoming: Any) -> None:
        self.settle()
        self.running = row
        self._befores[row] = self._render_grad(row)

    def _ran_leaf(self, row: Row, outgoing: Any, incoming: Any) -> None:
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch(), torch.no_grad():
            text, norm = self._render_all(incoming)
        after = self._render_grad(row)
        before = self._befores.pop(row, "")
        self._recorder.add_event(
            "accumulate",
            row,
            call=self._call,
            norm=norm,
            before=before,
            incoming=text,
            outgoing=after,
            text=tell_hooks(row),
        )
        self._reach(row, ())
        self.running = None

    def _reach(self, row: Row, outgoing: Any) -> None:
        now = read_counter()
        if now > self.began and get_ident() == self._thread:
            self._recorder.births.note(self.began, now, row)
        elif now > self.began:
            tag_born(self._recorder, outgoing, self.began, now, row)
        if row.reached_by < 0:
            row.reached_by = self._call

    def _render_grad(self, row: Row) -> str:
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch(), torch.no_grad():
            leaf = row.leaf()
            grad = None if leaf is None else leaf.grad
            return "None" if grad is None else self._render_all((grad,))[0]

    def _render_all(self, tensors: Any) -> tuple[str, float | None]:
        return self._recorder.renderer.render_all(tensors, len(self._recorder.tape.events))


def tell_hooks(row: Row) -> str:
    """Which of the program's hooks ran on a leaf's gradient, before and after it was added."""
    leaf = row.leaf()
    if leaf is None:
        return ""
    told = [HOOKED] if leaf._backward_hooks else []
    if leaf._post_accumulate_grad_hooks:
        told.append(HOOKED_AFTER)
    return "; ".join(told)


def read_keeps_graph(args: Any, kwargs: Any) -> bool:
    """Reads `keep_graph`, the engine's second argument after its outputs: whether saved tensors are kept."""
    return bool(args[1]) if len(args) > 1 else bool(kwargs.get("keep_graph", True))


class Engine:
    """Replaces torch.autograd.graph._engine_run_backward while a recording is open."""

    def __init__(self, recorder: Recorder, listener: Listener, original: Callable[..., Any]) -> None:
        self._recorder = recorder
        self._listener = listener
        self.original = original
        self._runs: list[BackwardRun] = []
        self._calls = 0
        self._noted_error = 0

    def find_running(self) -> Row | None:
        """The node whose backward runs now, if any does."""
        return self._runs[-1].running if self._runs else None

    def __call__(self, outputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Runs the engine unchanged, with hooks on its nodes."""
        recorder = self._recorder
        if not recorder.is_here() or torch._C._are_functorch_transforms_active() or is_compiling():
            self._note_left_out()
            return self.original(outputs, *args, **kwargs)
        frame = sys._getframe(1)
        outer_call = recorder.call
        run = BackwardRun(recorder, self._calls, read_keeps_graph(args, kwargs))
        try:
            with without_collecting():
                self._begin(run, outputs, bool(kwargs.get("accumulate_grad", False)), frame)
        except Exception as problem:  # noqa: BLE001 - the tracer's fault must not become the program's
            recorder.give_up(problem)
        recorder.calls.enter(read_counter(), recorder.make_site(find_frame(frame, recorder.filename), None))
        recorder.quiet += 1
        self._runs.append(run)
        try:
            results = self._run(outputs, args, kwargs)
            run.settle()
            if not kwargs.get("accumulate_grad", False):
                self._note_results(args[3] if len(args) > 3 else (), results)
            return results
        except BaseException as error:
            self._note_error(run, error)
            raise
        finally:
            self._runs.pop()
            recorder.quiet -= 1
            recorder.calls.leave(read_counter())
            run.unhook()
            recorder.add_event("end", None)
            recorder.touched_at = None if self._runs else recorder.read_counter()
            recorder.call = outer_call

    def _note_left_out(self) -> None:
        recorder = self._recorder
        if recorder.is_open and get_ident() != recorder.thread:
            recorder.note_once("A backward call in another thread of the program is not shown.")
        elif recorder.is_open and is_compiling() and self._listener in _get_current_function_mode_stack():
            recorder.note_once(
                "What torch.compile made before this program may be cut into more pieces than without a tape."
            )

    def _run(self, outputs: Any, args: Any, kwargs: Any) -> Any:
        if self._listener in _get_current_function_mode_stack():
            return self.original(outputs, *args, **kwargs)
        # torch calls us with the mode disabled, but calls by custom backwards, hooks and recomputation must be seen.
        with self._listener:
            return self.original(outputs, *args, **kwargs)

    def _begin(self, run: BackwardRun, outputs: Any, adds_to_grad: bool, frame: Any) -> None:
        recorder = self._recorder
        recorder.note_leaf_values()
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch(), torch.no_grad():
            roots = [node for node in map(read_root, outputs) if node is not None]
            known = len(recorder.graph.rows)
            walked = recorder.graph.walk(roots)
            fresh = recorder.graph.rows[known:]
            self._note_recomputation(fresh)
            recorder.call, self._calls = self._calls, self._calls + 1
            if fresh:
                recorder.name_rows(frame)
            found = [row for row in map(recorder.graph.find_row, roots) if row is not None]
            if not self._runs:
                recorder.add_roots(found)
            recorder.add_event("backward", found[0] if found else None, text="backward" if adds_to_grad else "grad")
            run.hook(walked)

    def _note_recomputation(self, fresh: list[Row]) -> None:
        """Notes a reentrant checkpoint, which runs its forward again and then backward on the new nodes."""
        outer = self._runs[-1] if self._runs else None
        if outer is None or outer.running is None or outer.running.name != CHECKPOINT_NODE:
            return
        recorder, row = self._recorder, outer.running
        recorder.add_event("recompute", row, sequence=outer.began, text=RECOMPUTES)
        origin = recorder.find_origin(row)
        recorder.regions.append(Region(origin.site if origin else None, 0, 0, [row, *fresh]))

    def _note_results(self, inputs: Any, results: Any) -> None:
        recorder = self._recorder
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch(), torch.no_grad():
            for tensor, result in zip(inputs, results, strict=False):
                text, norm = recorder.renderer.render(result, len(recorder.tape.events))
                recorder.add_event("capture", recorder.graph.find_holder(tensor), norm=norm, incoming=text)

    def _note_error(self, run: BackwardRun, error: BaseException) -> None:
        if id(error) == self._noted_error:
            return
        self._noted_error = id(error)
        text = f"{type(error).__name__}: {error}"
        self._recorder.add_event("error", run.running, text=text[: self._recorder.caps.max_message])
