"""Watches one run of the backward engine: walk the graph, hook its nodes, run, unhook.

Hooks read numbers from gradients but keep no gradient, because the engine could not reuse a held one.
"""

import sys
from collections.abc import Callable, Iterable
from functools import partial
from threading import get_ident
from typing import Any

import torch
from torch.overrides import _get_current_function_mode_stack

from .collecting import without_collecting
from .foreign import tag_born
from .graph import Row, read_root
from .hooking import registering, remove
from .listening import Listener, find_frame, read_counter
from .recorder import Asked, Recorder, Region
from .rendering import NO_GRAD, Seen
from .tape import Event

# Looked up once, because each node's hook calls them.
count_dispatch_modes = torch._C._len_torch_dispatch_stack
is_grad_enabled = torch.is_grad_enabled
DisableTorchFunction = torch._C.DisableTorchFunction
CHECKPOINT_NODE = "CheckpointFunctionBackward"
RECOMPUTES = "the checkpointed region runs its forward again"
HOOKED = "a hook ran on this gradient first"
HOOKED_AFTER = "then a hook ran"


def is_compiling() -> bool:
    """Whether torch.compile runs the program with tensors that have no numbers, to see what it does."""
    return torch._guards.TracingContext.try_get() is not None


class BackwardRun:
    """One call of backward or grad: its hooks, and the nodes that have not run yet.

    An operation has one hook, which runs behind it: a second one before it would be a fifth of the tape's time.
    """

    def __init__(self, recorder: Recorder, call: int, keeps_graph: bool) -> None:
        self._recorder = recorder
        self._see_step = recorder.renderer.see_step
        self._call = call
        self._keeps_graph = keeps_graph
        self._thread = get_ident()
        self._handles: list[Any] = []
        self._befores: dict[Row, Seen] = {}
        self._hooked: list[tuple[Any, Row]] = []
        self._done: Row | None = None
        self.began = recorder.read_counter()
        """The counter when the last node had run."""

    def hook(self, walked: list[tuple[Any, Row]]) -> None:
        """Hooks every node or, if the tape is nearly full, only those that run first."""
        if self._recorder.tape.is_full:
            return
        left = self._recorder.tape.count_left(self._recorder.graph.operations)
        if len(walked) > left:
            self._recorder.tape.is_full = True
            walked = sorted(walked, key=lambda pair: -pair[1].sequence)[: max(0, left)]
        add, ran = self._handles.append, self._ran
        with registering():
            self._hooked = walked
            for node, row in walked:
                if row.is_leaf:
                    add(node.register_prehook(partial(self._start_leaf, row)))
                    add(node.register_hook(partial(self._ran_leaf, row)))
                else:
                    # Node and hook hold each other until the run is over, when the hooks are removed.
                    add(node.register_hook(partial(ran, row, node)))

    def unhook(self) -> None:
        remove(self._handles)
        self._handles.clear()
        self._hooked = []
        self.settle()

    def settle(self) -> None:
        """Notes a release at the next step, because the engine releases a node's saved tensors after its hooks."""
        done, self._done = self._done, None
        if done is not None and not self._keeps_graph:
            self._recorder.free(done)

    def find_next(self, captured: Iterable[Row]) -> Row | None:
        """The node that was running when an error ended the call: of those that may run, the one made last.

        `captured` are the nodes whose gradients the call hands out: it runs what leads to them, and nothing else.
        """
        events = self._recorder.tape.events
        ran = {event.row for event in events if event.call == self._call and event.kind in ("vjp", "accumulate")}
        left = {row for _, row in self._hooked} - ran - set(captured)
        if ends := set(captured):
            left = {row for row in left if not ends.isdisjoint(find_below(row))}
        waiting = {target for row in left for target, _, _ in row.edges}
        return max((row for row in left if row not in waiting), key=lambda row: row.sequence, default=None)

    def _ran(self, row: Row, node: Any, outgoing: Any, incoming: Any) -> None:
        """The engine calls this behind each node: what is written out here would take longer as calls."""
        recorder, now, call = self._recorder, read_counter(), self._call
        done, self._done = self._done, row
        number = now if get_ident() == recorder.thread else recorder.read_counter()
        if done is not None and done.holds and not self._keeps_graph:
            done.holds = False
            recorder.tape.add(Event("free", done, call, number))
        event = Event("vjp", row, call, number)
        try:
            if is_grad_enabled() or count_dispatch_modes():
                run_unseen(self._note_run, event, row, node, incoming, outgoing)
            else:
                with DisableTorchFunction():
                    self._note_run(event, row, node, incoming, outgoing)
        except Exception as problem:  # noqa: BLE001 - the tracer's fault must not become the program's
            recorder.give_up(problem)
        if now != self.began:
            self._reach(row, outgoing, now)
        elif row.reached_by < 0:
            row.reached_by = call

    def _note_run(self, event: Event, row: Row, node: Any, incoming: Any, outgoing: Any) -> None:
        recorder = self._recorder
        tape, rules = recorder.tape, recorder.rules
        event.received, event.sent = self._see_step(row, incoming, outgoing, len(tape.events))
        if recorder.asked and (asked := recorder.asked.get(row.sequence)) is not None:
            event.text = HOOKED if asked.is_hooked else ""
            self._keep(row, asked, event.received)
        tape.add(event)
        if rules.is_open and not row.is_custom and not rules.has_enough(row.name, incoming):
            rules.keep(node, row, event, (incoming, outgoing))

    def _keep(self, row: Row, asked: Asked, received: Any) -> None:
        """A tensor that retains its gradient has it now."""
        tensor = None if asked.keeper is None else asked.keeper()
        if tensor is not None and tensor.grad is not None:
            recorder = self._recorder
            after = recorder.renderer.see(tensor.grad, len(recorder.tape.events))
            recorder.add_event("retain", row, call=self._call, received=received, sent=(after,))

    def _start_leaf(self, row: Row, incoming: Any) -> None:
        self.settle()
        run_unseen(self._note_before, row)

    def _note_before(self, row: Row) -> None:
        leaf, renderer = row.leaf(), self._recorder.renderer
        self._befores[row] = renderer.see_grad(None if leaf is None else leaf.grad, len(self._recorder.tape.events))

    def _ran_leaf(self, row: Row, outgoing: Any, incoming: Any) -> None:
        run_unseen(self._note_leaf, row, incoming)
        self._reach(row, (), read_counter())

    def _note_leaf(self, row: Row, incoming: Any) -> None:
        recorder, renderer, leaf = self._recorder, self._recorder.renderer, row.leaf()
        step, before, grad = (
            len(recorder.tape.events),
            self._befores.pop(row, None),
            None if leaf is None else leaf.grad,
        )
        received = renderer.see_received(row, incoming, step)
        hooks = "" if leaf is None else tell_hooks(leaf)
        if before is NO_GRAD and grad is not None and not hooks and grad.layout is torch.strided:
            after = received[0]
        else:
            after = renderer.see_grad(grad, step)
        held = () if before is None else (before,)
        recorder.add_event(
            "accumulate", row, call=self._call, received=received, held=held, sent=(after,), text=hooks
        )

    def _reach(self, row: Row, outgoing: Any, now: int) -> None:
        if now > self.began and get_ident() == self._thread:
            self._recorder.births.note(self.began, now, row)
        elif now > self.began:
            tag_born(self._recorder, outgoing, self.began, now, row)
        self.began = now
        if row.reached_by < 0:
            row.reached_by = self._call


def run_unseen(work: Callable[..., None], *given: Any) -> None:
    """Let the tracer work on the program's tensors without recording that."""
    if is_grad_enabled() or count_dispatch_modes():
        with DisableTorchFunction(), torch._C._DisableTorchDispatch(), torch.no_grad():
            work(*given)
    else:
        # Most calls, one for each node: entering three contexts takes longer than the rest.
        with DisableTorchFunction():
            work(*given)


def find_below(row: Row) -> set[Row]:
    """A node, and all that its gradient flows on to."""
    found, waiting = {row}, [row]
    while waiting:
        for target, _, _ in waiting.pop().edges:
            if target not in found:
                found.add(target)
                waiting.append(target)
    return found


def tell_hooks(leaf: Any) -> str:
    """Which of the program's hooks ran on a leaf's gradient, before and after it was added."""
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
        """The node whose backward runs now, if any does; all that ran before it is on the tape."""
        node = torch._C._current_autograd_node()
        if node is None or not self._runs:
            return None
        self._runs[-1].settle()
        return self._recorder.graph.find_row(node)

    def __call__(self, outputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Runs the engine unchanged, with hooks on its nodes."""
        recorder = self._recorder
        if not recorder.is_here() or torch._C._are_functorch_transforms_active() or is_compiling():
            self._note_left_out()
            return self.original(outputs, *args, **kwargs)
        # The tape makes an object or two for each node, and no garbage: a collection would look through all of them.
        with without_collecting():
            return self._watch(outputs, args, kwargs, sys._getframe(1))

    def _watch(self, outputs: Any, args: Any, kwargs: Any, frame: Any) -> Any:
        recorder, outer_call = self._recorder, self._recorder.call
        captured = () if kwargs.get("accumulate_grad", False) else tuple(args[3]) if len(args) > 3 else ()
        run = BackwardRun(recorder, self._calls, read_keeps_graph(args, kwargs))
        try:
            self._begin(run, outputs, bool(kwargs.get("accumulate_grad", False)), frame)
        except Exception as problem:  # noqa: BLE001 - the tracer's fault must not become the program's
            recorder.give_up(problem)
        recorder.calls.enter(read_counter(), recorder.make_site(find_frame(frame, recorder.filename), None))
        recorder.quiet += 1
        self._runs.append(run)
        try:
            results = self._run(outputs, args, kwargs)
            run.settle()
            self._note_results(captured, results)
            return results
        except BaseException as error:
            self._note_error(run, error, captured)
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
        recorder, row = self._recorder, self.find_running()
        if row is None or row.name != CHECKPOINT_NODE:
            return
        recorder.add_event("recompute", row, sequence=self._runs[-1].began, text=RECOMPUTES)
        origin = recorder.find_origin(row)
        recorder.regions.append(Region(origin.site if origin else None, 0, 0, [row, *fresh]))

    def _note_results(self, inputs: Any, results: Any) -> None:
        recorder = self._recorder
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch(), torch.no_grad():
            for tensor, result in zip(inputs, results or (), strict=False):
                received = recorder.renderer.see(result, len(recorder.tape.events))
                recorder.add_event("capture", recorder.graph.find_holder(tensor), received=(received,))

    def _note_error(self, run: BackwardRun, error: BaseException, captured: Any) -> None:
        if id(error) == self._noted_error:
            return
        self._noted_error = id(error)
        text = f"{type(error).__name__}: {error}"
        run.settle()
        rows = (self._recorder.graph.find_holder(tensor) for tensor in captured)
        failed = run.find_next(row for row in rows if row is not None)
        self._recorder.add_event("error", failed, text=text[: self._recorder.caps.max_message])
