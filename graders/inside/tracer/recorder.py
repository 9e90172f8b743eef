"""The state of one recording: the listener, hooks and wrappers write to it, and the document is made from it."""

import threading
import weakref
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch

from .caps import Caps
from .cuts import Cut
from .graph import Graph, Row
from .idle import Found, Tracked
from .listening import find_frame, read_counter
from .loops import TurnLog, find_loop_names
from .matrices import MAX_SIDE, Matrix, read_small
from .names import ModulePaths, find_module_name, iterate_tensors
from .naming import is_inplace_call
from .numerals import write_values
from .positions import CallLog, Origin, Site
from .rendering import Renderer
from .rules import Rulebook
from .saved import Saved
from .scopes import CO_OPTIMIZED, read_locals
from .tape import Event, Tape

_count_dispatch_modes = torch._C._len_torch_dispatch_stack


@dataclass(eq=False, slots=True)
class NotedCut:
    """A recorded cut; `row` is the node whose output was cut."""

    kind: str
    site: Site
    row: Row | None
    shape: tuple[int, ...]


@dataclass(eq=False, slots=True)
class Region:
    """A checkpointed region: nodes by sequence number, or rows that its own backward made."""

    site: Site | None
    start: int
    end: int
    rows: list[Row]


@dataclass(eq=False, slots=True)
class Asked:
    """What the program asked of a node's gradient: a hook that may change it, or to keep it in a tensor's .grad."""

    is_hooked: bool = False
    keeper: Any = None


class Births:
    """Maps nodes to the node whose backward made them, for a backward pass that is itself differentiated."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._rows: list[Row] = []

    def note(self, start: int, end: int, row: Row) -> None:
        self._starts.append(start)
        self._ends.append(end)
        self._rows.append(row)

    def find(self, sequence: int) -> Row | None:
        """The node whose backward was running when the node with this number was made."""
        at = bisect_right(self._starts, sequence) - 1
        return self._rows[at] if at >= 0 and sequence < self._ends[at] else None


class Recorder:
    """One recording, on one thread; the program's other threads are not recorded."""

    def __init__(self, source: str, filename: str, namespace: dict[str, Any], caps: Caps) -> None:
        self.source = source
        self.filename = filename
        self.namespace = namespace
        self.caps = caps
        self.loop_names = find_loop_names(source)
        self.calls = CallLog(caps.max_calls_logged)
        self.graph = Graph(caps.max_nodes, caps.max_value_items, self._forget)
        self.tape = Tape(caps.max_events)
        self.modules = ModulePaths()
        self.turns = TurnLog(source)
        self.renderer = Renderer(caps)
        self.values: dict[tuple[int, int], Any] = {}
        self.values_left = caps.valued_steps
        self._most_items = max(caps.max_value_items, MAX_SIDE**2)
        self.cuts: dict[tuple[str, Site, Row | None], NotedCut] = {}
        self.asked: dict[int, Asked] = {}
        self.touched_at: int | None = None
        self.tracked = Tracked()
        self.idle: list[Found] = []
        self.regions: list[Region] = []
        self.births = Births()
        self.rules = Rulebook()
        self.roots: list[Row] = []
        self.notes: list[str] = []
        self.quiet = 0
        self.call = -1
        self.is_open = False
        self.is_apart = False
        self.was_cut_short = False
        self.thread = threading.get_ident()

    def is_here(self) -> bool:
        """Whether the recording is open and this is its thread."""
        return self.is_open and threading.get_ident() == self.thread

    def make_site(self, frame: FrameType | None, function: Any) -> Site:
        """The place of a call: the frame's instruction, the module that runs, the function."""
        if frame is None:
            return Site(None, 0, self.modules.current, function)
        return Site(frame.f_code, frame.f_lasti, self.modules.current, function)

    def give_up(self, problem: Exception) -> None:
        """Ends the recording with a note, because the tracer cannot read something; the program continues."""
        self.is_open = False
        self.values_left = 0
        self.quiet += 1_000_000
        self.note_once(f"The trace stops early: {type(problem).__name__}: {problem}"[: self.caps.max_text])

    def note_once(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def note_value(self, function: Any, result: Any) -> None:
        """Keeps the values of small new results under their node's number."""
        if type(result) is torch.Tensor:
            if result.numel() > self._most_items:
                return
            tensors: Any = (result,)
        elif isinstance(result, (tuple, list)):
            tensors = result
        else:
            return
        # If the program has its own mode, that would count reading values as an operation.
        if _count_dispatch_modes() or is_inplace_call(getattr(function, "__name__", "_")):
            return
        torch._C._set_grad_enabled(False)  # reading a conjugate view would make a node
        try:
            for tensor in tensors:
                self._keep_value(tensor)
        except (RuntimeError, NotImplementedError, TypeError):
            return  # sparse, meta and quantized tensors have no list of values
        finally:
            torch._C._set_grad_enabled(True)

    def _keep_value(self, tensor: Any) -> None:
        if type(tensor) is not torch.Tensor or tensor.numel() > self._most_items:
            return
        if not tensor.requires_grad or is_changed_view(tensor):
            return
        values = read_small(tensor, self.caps.max_value_items)
        if values is not None:
            self.values[tensor.grad_fn._sequence_nr(), tensor.output_nr] = values
            self.values_left -= 1

    def note_change(self, counter: int) -> None:
        """A call that changes values in place: leaves may have other values from here on."""
        if self.touched_at is None:
            self.touched_at = counter

    def note_asked(self, keeps: bool, tensor: Any) -> None:
        """The program hooked a tensor's gradient, or asked to keep it."""
        if tensor.grad_fn is None or is_changed_view(tensor):
            return
        asked = self.asked.setdefault(tensor.grad_fn._sequence_nr(), Asked())
        if keeps:
            asked.keeper = weakref.ref(tensor)
        else:
            asked.is_hooked = True

    def note_leaf_values(self) -> None:
        """A step for each small leaf whose value is another than when it was read last."""
        touched, self.touched_at = self.touched_at, None
        at = self.read_counter() if touched is None else touched
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch(), torch.no_grad():
            for row in self.graph.refresh_leaves():
                event = self.add_event("update", row, call=-1, sequence=at)
                if type(row.latest) is Matrix:
                    event.sent = ((row.shape, row.latest),)
                else:
                    event.outgoing = write_values(row.latest)

    def note_cut(self, cut: Cut, site: Site) -> None:
        """Keeps one cut per place and node, and reads the graph above it now, because it may be freed at once."""
        if len(self.cuts) >= self.caps.max_cuts:
            self.note_once(f"Only the first {self.caps.max_cuts} cuts are shown.")
            return
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch(), torch.no_grad():
            row = None if cut.tensor is None else self._find_cut_row(cut.tensor, cut.function)
        shape = () if cut.tensor is None else tuple(cut.tensor.shape)
        self.cuts.setdefault((cut.kind, site, row), NotedCut(cut.kind, site, row, shape))

    def _find_cut_row(self, tensor: Any, function: Any) -> Row | None:
        if is_changed_view(tensor):
            return None
        if tensor.grad_fn is None:
            return self.graph.adopt_leaf(tensor)
        maker = tensor.grad_fn if function is None else function
        if self.graph.find_row(maker) is None:
            self.take_in(self.graph.discover([maker]))
        return self.graph.find_row(maker)

    def take_in(self, fresh: list[Row]) -> None:
        """Names new rows after the variables that hold them now, because variables change later."""
        if fresh:
            self.name_rows()

    def name_rows(self, frame: FrameType | None = None, extra: Iterable[dict[str, Any]] = ()) -> None:
        """Names nodes and leaves after variables: those of the top level, then of functions, innermost first."""
        module_name = str(self.namespace.get("__name__"))
        for variables in (*self.iterate_scopes(frame), *extra):
            for name, tensor in iterate_tensors(variables, module_name, self.loop_names):
                row = self._find_named(tensor)
                if row is not None:
                    row.give_name(0 if row.is_leaf else tensor.output_nr, name)

    def _find_named(self, tensor: Any) -> Row | None:
        known = self.graph.find_leaf(tensor)
        if known is not None or not tensor.requires_grad or is_changed_view(tensor):
            return known
        return None if tensor.grad_fn is None else self.graph.find_row(tensor.grad_fn)

    def iterate_scopes(self, frame: FrameType | None = None) -> Iterator[dict[str, Any]]:
        """The program's variables: its top level, then the functions running, innermost first."""
        yield self.namespace
        frame = find_frame(frame, self.filename)
        while frame is not None:
            if frame.f_globals is self.namespace and frame.f_code.co_flags & CO_OPTIMIZED:
                yield read_locals(frame)
            frame = find_frame(frame.f_back, self.filename)

    def find_module_name(self, module: Any, frame: FrameType | None) -> str:
        return find_module_name(module, self.iterate_scopes(frame))

    def read_counter(self) -> int:
        """The number of the next node on the recording's own thread, as far as another thread can know it."""
        return read_counter() if threading.get_ident() == self.thread else self.calls.latest

    def find_origin(self, row: Row) -> Origin | None:
        """Which call made a node."""
        if row.is_leaf:
            return None
        return self.calls.find(row.sequence) if row.foreign is None else row.foreign.origin

    def find_maker(self, row: Row) -> Row | None:
        """The node whose backward made this one."""
        if row.is_leaf:
            return None
        return self.births.find(row.sequence) if row.foreign is None else row.foreign.maker

    def add_event(self, kind: str, row: Row | None, **fields: Any) -> Event:
        """Adds one step to the tape."""
        sequence = fields.pop("sequence", None)
        event = Event(kind, row, fields.pop("call", self.call), self.read_counter() if sequence is None else sequence)
        for name, value in fields.items():
            setattr(event, name, value)
        self.tape.add(event)
        return event

    def add_roots(self, rows: list[Row]) -> None:
        """Adds the nodes where backward started, or where a graph that was never unwound ends."""
        self.roots.extend(row for row in rows if row not in self.roots)

    def refill(self, filled: dict[int, Saved]) -> None:
        """Checkpointed nodes hold tensors again; `filled` has the tensor that each empty slot's holder got."""
        by_row: dict[Row, list[Saved]] = {}
        for holder, saved in filled.items():
            row = self.graph.holders.get(holder)
            if row is not None:
                label = next((slot.label for slot in row.saved if slot.holder == holder), "")
                by_row.setdefault(row, []).append(saved._replace(label=label))
        for row, slots in by_row.items():
            row.holds = True
            self.add_event("save", row, refilled=tuple(slots))

    def free(self, row: Row, text: str = "") -> None:
        """The node released what it saved."""
        if row.holds:
            row.holds = False
            event = Event("free", row, self.call, self.read_counter())
            if text:
                event.text = text
            self.tape.add(event)

    def _forget(self, row: Row) -> None:
        if self.is_here():
            self.free(row, "the graph was let go")


def is_changed_view(tensor: Any) -> bool:
    """Whether a tensor is a view of memory changed in place. Its grad_fn is not read: that may make a node."""
    return bool(tensor._is_view() and tensor._version > 0)
