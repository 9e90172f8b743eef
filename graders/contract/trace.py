"""The trace of a program's autograd graphs, stored in columns so that ten thousand nodes stay small as JSON.

All columns of one table have the same length; `trace_check` checks that, the caps, and that indices are in range. A
trace is a claim of the learner's process: it is drawn, and earns no credit.
"""

from typing import Annotated, Literal, TypeVar

from pydantic import FailFast, Field

from graders.contract.model import Message

MAX_NODES = 200_000
MAX_EVENTS = 40_000
MAX_TEXT = 200
MAX_VALUES = 400
"""Twelve complex numbers fit."""
MAX_GRADIENTS = 8_000
"""What one node hands to all its inputs: a `stack` of hundreds names each part."""
MAX_MESSAGE = 1_000
MAX_MATRIX = 2_000
"""Eight rows of eight complex numbers fit."""

Text = Annotated[str, Field(max_length=MAX_TEXT)]
Values = Annotated[str, Field(max_length=MAX_VALUES)]
Gradients = Annotated[str, Field(max_length=MAX_GRADIENTS)]
Numbers = Annotated[str, Field(max_length=MAX_MATRIX)]
Told = Annotated[str, Field(max_length=MAX_MESSAGE)]
Index = Annotated[int, Field(ge=0, le=2**32)]
Bytes = Annotated[int, Field(ge=0, le=2**53)]
T = TypeVar("T")
Column = Annotated[tuple[T, ...], FailFast()]
"""Stop at the first error: a hundred thousand errors would take three hundred times the memory of the data."""

Shape = tuple[Annotated[int, Field(ge=0, le=2**53)], ...]

Span = tuple[int, int, int, int]
"""A place in the source: (line, column, end line, end column); lines from 1, columns from 0, in characters."""

NodeKind = Literal["op", "leaf", "custom", "inplace", "checkpoint", "opaque"]

CutKind = Literal[
    "detach",
    "data",
    "item",
    "tolist",
    "numpy",
    "float",
    "format",
    "parameter",
    "no_grad",
    "inference_mode",
    "comparison",
    "integer",
]

EventKind = Literal[
    "record",
    "save",
    "free",
    "vjp",
    "accumulate",
    "retain",
    "capture",
    "update",
    "recompute",
    "backward",
    "end",
    "error",
]


class Nodes(Message):
    """One row per backward node, in the order in which the forward pass made them; a leaf is before its first use.

    `span` is null if no line of the learner's source made the node. `values` is a short rendering of the forward
    output (for a leaf: its value at its first use) if it is small, else "". `backward` is the number of the backward
    call that reached the node first (-1: none did). `saved_bytes` counts unique storages, each at the first node that
    saved it; `leaf_bytes` is the part of it that leaves (parameters) own, which stays when the graph is released.
    `saved` lists the slots, separated by "; ". `sequence` is autograd's number, -1 for a leaf. `made_by` is the node
    whose backward made this one (second derivatives). A learner's own engine has no backward nodes: there a row is a
    value, `name` is "", `forward` is its `_op`, and nothing is saved.
    """

    name: Column[Text] = ()
    forward: Column[Text] = ()
    kind: Column[NodeKind] = ()
    module: Column[Text] = ()
    span: Column[Span | None] = ()
    shape: Column[Shape] = ()
    dtype: Column[Text] = ()
    variable: Column[Text] = ()
    values: Column[Values] = ()
    saved_bytes: Column[Bytes] = ()
    leaf_bytes: Column[Bytes] = ()
    saved: Column[Text] = ()
    sequence: Column[int] = ()
    backward: Column[int] = ()
    made_by: Column[Index | None] = ()


class Outputs(Message):
    """The outputs of nodes that have several, from the second on: the first stands in the table of nodes."""

    node: Column[Index] = ()
    output: Column[Index] = ()
    shape: Column[Shape] = ()
    variable: Column[Text] = ()
    values: Column[Values] = ()


class Passes(Message):
    """The calls of each module that was called more than once, `number` from 1.

    A call made those of the nodes `first` to `last`, both within, whose module path begins with `module`.
    """

    module: Column[Text] = ()
    number: Column[Index] = ()
    first: Column[Index] = ()
    last: Column[Index] = ()


class Turns(Message):
    """The turns of `for` loops whose variable is a plain int or str: `line` is the loop's, `value` reads "t = 2".

    The loop's own lines made `first` and `last`, and all that they made in this turn lies between.
    """

    line: Column[Index] = ()
    value: Column[Text] = ()
    first: Column[Index] = ()
    last: Column[Index] = ()


class Matrices(Message):
    """The numbers of small matrices, "[[1.0, 2.0], ...]", whose text elsewhere is their norm.

    `of` "values": what the node numbered `at` gave (of a leaf: its value at its first use). Else it is a column of
    the tape, `at` the row and `slot` the part of the text there.
    """

    of: Column[Literal["values", "before", "incoming", "outgoing"]] = ()
    at: Column[Index] = ()
    slot: Column[Index] = ()
    numbers: Column[Numbers] = ()


class Edges(Message):
    """Backward edges: gradient flows from node `source` to node `target` (the producer of an input).

    `slot` is the edge's position in the source's next_functions, `output` the number of the target's output.
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
    """The tape, one row per step, in the order in which the steps happened.

    In every row, `bytes` is the total held for backward after the step, and `call` the number of its backward call,
    from 0 (-1: outside any). Gradients read "(shape) values" or "(shape) ‖norm‖". Several are separated by "; ", one
    per slot, "·" where none flows, so that part k of `outgoing` belongs to the edge of slot k; "?" is a gradient that
    flowed but was not observed (a learner's own engine may add up before it stores).
    `record`: an operation's node is made (leaves have no such step). `backward`: a call begins at `node`, `text`
    is "backward" or "grad"; a call that begins before the last one's `end` runs inside it. `vjp`: the node ran;
    `incoming` is the sum that it received for each of its outputs, `norm` the norm of that. `accumulate`: a leaf's
    .grad; `incoming` is what was added, `before` and `outgoing` the values before and after. `retain`: the .grad of
    an operation's output, which the program asked to keep. For these three, `text` says which of the program's hooks
    ran. `update`: the program changed a leaf's own value; `outgoing` is the new one. `capture`: grad returns
    `incoming` for the node instead of adding it to .grad. `free`: the node's saved tensors are released. `recompute`:
    a checkpointed region runs its forward again, because of `node`; `save`: one of its nodes holds tensors again.
    `error`: `text` is the message, `node` the node that was running. `end`: the call is over.
    """

    kind: Column[EventKind] = ()
    node: Column[Index | None] = ()
    call: Column[int] = ()
    bytes: Column[Bytes] = ()
    norm: Column[float | None] = ()
    before: Column[Gradients] = ()
    incoming: Column[Gradients] = ()
    outgoing: Column[Gradients] = ()
    text: Column[Told] = ()


class Rules(Message):
    """The vector-Jacobian product of each node that ran: a row of the trace's `formulas`.

    The tracer ran the formula on what the node had saved. An empty one says that none known to it gives what the
    engine sent.
    """

    node: Column[Index] = ()
    formula: Column[Index] = ()


class Worked(Message):
    """Formulas of steps with the numbers in the place of their letters."""

    event: Column[Index] = ()
    numbers: Column[Values] = ()


IdleReason = Literal["unused", "late", "frozen"]


class Idle(Message):
    """Leaves that no graph has: nothing was computed from them (since they are tracked), or they are not tracked.

    `span` is where the program asked for tracking, of a `late` one.
    """

    variable: Column[Text] = ()
    shape: Column[Shape] = ()
    reason: Column[IdleReason] = ()
    span: Column[Span | None] = ()


class Regions(Message):
    """Nodes that belong together: a checkpointed region and the nodes inside it.

    Regions nest, and two may share nodes without one containing the other: the node of a reentrant checkpoint belongs
    to the region that it recomputes and to the one around it.
    """

    kind: Column[Literal["checkpoint"]] = ()
    nodes: Column[tuple[Index, ...]] = ()
    span: Column[Span | None] = ()


class Trace(Message):
    """One run's graphs and tapes. `notes` says in words what was left out and why."""

    version: Literal[1] = 1
    torch: Text = ""
    engine: Literal["torch", "learner"] = "torch"
    nodes: Nodes = Nodes()
    outputs: Outputs = Outputs()
    passes: Passes = Passes()
    turns: Turns = Turns()
    matrices: Matrices = Matrices()
    edges: Edges = Edges()
    cuts: Cuts = Cuts()
    events: Events = Events()
    rules: Rules = Rules()
    worked: Worked = Worked()
    formulas: Column[Values] = ()
    regions: Regions = Regions()
    idle: Idle = Idle()
    roots: Column[Index] = ()
    truncated: bool = False
    notes: Column[Text] = ()
