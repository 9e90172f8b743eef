"""The trace of a program's autograd graphs: columns, so that ten thousand nodes stay small as JSON.

Every column of one table has the same length; `trace_check` checks that, the caps, and that edges and indices point
at something. A trace is the learner's process's word: it draws pictures and earns no credit.
"""

from typing import Annotated, Literal, TypeVar

from pydantic import FailFast, Field

from graders.contract.model import Message

MAX_NODES = 200_000
MAX_EVENTS = 20_000
MAX_TEXT = 200

Text = Annotated[str, Field(max_length=MAX_TEXT)]
Index = Annotated[int, Field(ge=0, le=2**32)]
Bytes = Annotated[int, Field(ge=0, le=2**53)]
T = TypeVar("T")
Column = Annotated[tuple[T, ...], FailFast()]
"""One error is enough: a hundred thousand of them take three hundred times the bytes that they are about."""

Shape = tuple[Annotated[int, Field(ge=0, le=2**53)], ...]

Span = tuple[int, int, int, int]
"""Where in the source: (line, column, end line, end column); lines from 1, columns from 0 in characters."""

NodeKind = Literal["op", "leaf", "custom", "inplace", "checkpoint", "opaque"]

CutKind = Literal[
    "detach", "data", "item", "tolist", "numpy", "float", "no_grad", "inference_mode", "comparison", "integer"
]

EventKind = Literal["record", "save", "free", "vjp", "accumulate", "capture", "recompute", "backward", "end", "error"]


class Nodes(Message):
    """One row a backward node, in the order in which the forward pass made them; a leaf stands before its first use.

    `span` is null where no line of the learner's source made the node. `values` is a short rendering of
    the forward output (of a leaf: its value when it was met) where it is small, else "". `backward` says which
    backward call reached the node first (-1: none did). `saved_bytes` counts unique storages, each at the first
    node that saved it; `leaf_bytes` is the part of it that leaves (parameters) own, and that stays when the graph
    is let go. `saved` lists the slots, "; " between them. `sequence` is autograd's number, -1 for a leaf.
    `made_by` is the node whose backward made this one (second derivatives). An engine of the learner's own has no
    backward nodes: there a row is a value, `name` is "", `forward` its `_op`, and nothing is saved.
    """

    name: Column[Text] = ()
    forward: Column[Text] = ()
    kind: Column[NodeKind] = ()
    module: Column[Text] = ()
    span: Column[Span | None] = ()
    shape: Column[Shape] = ()
    dtype: Column[Text] = ()
    variable: Column[Text] = ()
    values: Column[Text] = ()
    saved_bytes: Column[Bytes] = ()
    leaf_bytes: Column[Bytes] = ()
    saved: Column[Text] = ()
    sequence: Column[int] = ()
    backward: Column[int] = ()
    made_by: Column[Index | None] = ()


class Edges(Message):
    """Backward edges: gradient flows from node `source` to node `target` (the producer of an input).

    `slot` is the position among the source's next_functions, `output` the target's output it belongs to.
    """

    source: Column[Index] = ()
    target: Column[Index] = ()
    slot: Column[Index] = ()
    output: Column[Index] = ()


class Cuts(Message):
    """Places where a tracked tensor left the graph. `node` is the node whose output was cut, or null."""

    kind: Column[CutKind] = ()
    span: Column[Span | None] = ()
    node: Column[Index | None] = ()
    shape: Column[Shape] = ()


class Events(Message):
    """The tape, one row per step, in the order in which it happened.

    Every row: `bytes` is what is held for backward in all after the step; `call` numbers the backward call it
    belongs to, from 0 (-1: outside any). Gradients read "(shape) values" or "(shape) ‖norm‖"; several stand with
    "; " between them, one a slot, "·" where none flows, so that part k of `outgoing` belongs to the edge of slot k;
    "?" is one that flowed and nobody saw (an engine of the learner's own may add up before it stores).
    `record`: an operation's node is made (leaves have no such step). `backward`: a call begins at `node`, `text`
    is "backward" or "grad"; a call that begins before the last one's `end` runs inside it. `vjp`: the node ran;
    `incoming` is the sum it received for each of its outputs, `norm` the size of that. `accumulate`: a leaf's
    .grad, `incoming` is what was added, `outgoing` the value after it, `before` the value before. `capture`: grad
    hands out `incoming` for the node instead of adding it to .grad. `free`: the node's saved tensors let go.
    `recompute`: a checkpointed region runs its forward again, because of `node`; `save`: a node of it holds tensors
    again. `error`: `text` is the message, `node` the one that was running. `end`: the call is over.
    """

    kind: Column[EventKind] = ()
    node: Column[Index | None] = ()
    call: Column[int] = ()
    bytes: Column[Bytes] = ()
    norm: Column[float | None] = ()
    before: Column[Text] = ()
    incoming: Column[Text] = ()
    outgoing: Column[Text] = ()
    text: Column[Text] = ()


class Regions(Message):
    """Nodes that belong together: a checkpointed region and the nodes inside it.

    Regions nest, and two may share nodes without one holding the other: the node of a reentrant checkpoint stands in
    the region that it runs again, and in the one around it.
    """

    kind: Column[Literal["checkpoint"]] = ()
    nodes: Column[tuple[Index, ...]] = ()
    span: Column[Span | None] = ()


class Trace(Message):
    """One run's graphs and tapes. `notes` says in words what was left out, and why."""

    version: Literal[1] = 1
    torch: Text = ""
    engine: Literal["torch", "learner"] = "torch"
    nodes: Nodes = Nodes()
    edges: Edges = Edges()
    cuts: Cuts = Cuts()
    events: Events = Events()
    regions: Regions = Regions()
    roots: Column[Index] = ()
    truncated: bool = False
    notes: Column[Text] = ()
