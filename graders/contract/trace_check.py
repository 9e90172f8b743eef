"""The one reader of untrusted traces: nothing uses what a learner's process reports of its graphs before this check.

Besides the contract's field types it checks that a table's columns have one length, that indices are in range, that
the edges have no cycle, and that every number is finite and within the caps. It replaces control and
direction-changing characters in every text. It escapes nothing: the drawing does that where it uses a text.

The worker calls it on what comes out of the box, the drawing process on what comes out of the ledger. All drawing
code takes a CheckedTrace and checks nothing again.
"""

import math
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, NewType, TypeVar

from pydantic import BaseModel, ValidationError

from graders.contract.limits import MAX_TRACE_BYTES
from graders.contract.trace import MAX_EVENTS, MAX_NODES, Span, Trace

MAX_EDGES = 4 * MAX_NODES
MAX_CUTS = MAX_EVENTS
MAX_ROOTS = MAX_EVENTS
"""Each backward call may begin at a different root."""
MAX_REGIONS = 2_000
MAX_PASSES = MAX_EVENTS
MAX_MATRICES = 1_000
MAX_NOTES = 100
MAX_DIMENSIONS = 64
MAX_LINE = 1_000_000
MAX_MODULE_DEPTH = 40
REPLACEMENT = "\ufffd"
TABLES = (
    *("nodes", "outputs", "passes", "turns", "matrices", "edges", "cuts", "events"),
    *("rules", "worked", "regions", "idle"),
)

Table = TypeVar("Table", bound=BaseModel)

CheckedTrace = NewType("CheckedTrace", Trace)
"""A trace that this module accepted."""


class TraceRefused(ValueError):
    """A trace that no honest tracer makes. `code` is one word for logs, the message a sentence for readers."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def read_trace(document: bytes | str, *, most_bytes: int = MAX_TRACE_BYTES) -> CheckedTrace:
    """Parse and check one JSON document. For any bytes, it raises TraceRefused and nothing else."""
    size_bytes = len(document) if isinstance(document, bytes) else len(document.encode("utf-8", "replace"))
    if size_bytes > most_bytes:
        raise TraceRefused("too-large", f"the trace has {size_bytes:,} bytes; at most {most_bytes:,} are read")
    try:
        trace = Trace.model_validate_json(document)
    except (ValidationError, RecursionError) as problem:
        raise _malformed(problem) from None
    return check_trace(trace)


def build_trace(data: Any) -> CheckedTrace:
    """The same for data that are already parsed. Raises TraceRefused and nothing else."""
    try:
        trace = Trace.model_validate(data)
    except (ValidationError, RecursionError) as problem:
        raise _malformed(problem) from None
    return check_trace(trace)


def _malformed(problem: ValidationError | RecursionError) -> TraceRefused:
    return TraceRefused("malformed", f"the trace does not have the agreed form: {_first_line(problem)}")


def _first_line(problem: ValidationError | RecursionError) -> str:
    if isinstance(problem, RecursionError):
        return "it is nested too deeply"
    first = problem.errors(include_input=False, include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])[:80]
    return clean_text(f"{place}: {first['msg'][:120]}")


def check_trace(trace: Trace) -> CheckedTrace:
    """The same trace with clean texts. Raises TraceRefused if its parts are inconsistent or over the caps."""
    _check_caps(trace)
    for name in TABLES:
        _check_columns(name, getattr(trace, name))
    _check_indices(trace)
    _check_passes(trace)
    _check_regions(trace)
    _check_shapes_and_spans(trace)
    _check_numbers(trace)
    _check_acyclic(trace)
    return CheckedTrace(_clean(trace))


def _check_caps(trace: Trace) -> None:
    nodes_in_regions = sum(len(nodes) for nodes in trace.regions.nodes)
    for what, count, most in (
        ("nodes", len(trace.nodes.name), MAX_NODES),
        ("edges", len(trace.edges.source), MAX_EDGES),
        ("cuts", len(trace.cuts.kind), MAX_CUTS),
        ("events", len(trace.events.kind), MAX_EVENTS),
        ("regions", len(trace.regions.kind), MAX_REGIONS),
        ("passes", len(trace.passes.module), MAX_PASSES),
        ("turns of loops", len(trace.turns.line), MAX_PASSES),
        ("matrices", len(trace.matrices.of), MAX_MATRICES),
        ("outputs", len(trace.outputs.node), MAX_EDGES),
        ("rules", len(trace.rules.node), MAX_NODES),
        ("idle leaves", len(trace.idle.variable), MAX_CUTS),
        ("worked steps", len(trace.worked.event), MAX_EVENTS),
        ("formulas", len(trace.formulas), MAX_NODES),
        ("nodes in regions", nodes_in_regions, MAX_NODES),
        ("roots", len(trace.roots), MAX_ROOTS),
        ("notes", len(trace.notes), MAX_NOTES),
    ):
        if count > most:
            raise TraceRefused("too-many", f"the trace has {count:,} {what}; at most {most:,} are read")


def _check_columns(name: str, table: BaseModel) -> None:
    lengths = {column: len(getattr(table, column)) for column in type(table).model_fields}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{column} {length:,}" for column, length in lengths.items())
        raise TraceRefused("ragged", f"the columns of {name} differ in length: {listed}")


def _check_indices(trace: Trace) -> None:
    others = (
        ("rules.formula", trace.rules.formula, len(trace.formulas), "formulas"),
        ("worked.event", trace.worked.event, len(trace.events.kind), "events"),
    )
    for name, column, most, what in others:
        if max(column, default=-1) >= most:
            raise TraceRefused("out-of-range", f"{name} points at {max(column)}, but there are {most:,} {what}")
    for of, at in zip(trace.matrices.of, trace.matrices.at, strict=True):
        what, most = ("nodes", len(trace.nodes.name)) if of == "values" else ("events", len(trace.events.kind))
        if at >= most:
            raise TraceRefused("out-of-range", f"matrices.at points at {at}, but there are {most:,} {what}")
    _check_nodes_named(trace)


def _check_nodes_named(trace: Trace) -> None:
    count = len(trace.nodes.name)
    columns: tuple[tuple[str, Iterable[int | None]], ...] = (
        ("nodes.made_by", trace.nodes.made_by),
        ("edges.source", trace.edges.source),
        ("edges.target", trace.edges.target),
        ("cuts.node", trace.cuts.node),
        ("events.node", trace.events.node),
        ("regions.nodes", (node for nodes in trace.regions.nodes for node in nodes)),
        ("roots", trace.roots),
        ("outputs.node", trace.outputs.node),
        ("passes.first", trace.passes.first),
        ("passes.last", trace.passes.last),
        ("turns.first", trace.turns.first),
        ("turns.last", trace.turns.last),
        ("rules.node", trace.rules.node),
    )
    for name, column in columns:
        for index in column:
            if index is not None and index >= count:
                raise TraceRefused("out-of-range", f"{name} points at node {index}, but there are {count:,} nodes")


def _check_regions(trace: Trace) -> None:
    # Two regions may share nodes, for example a reentrant checkpoint inside another, or one that ran backward twice.
    for number, nodes in enumerate(trace.regions.nodes):
        if len(set(nodes)) < len(nodes):
            raise TraceRefused("repeated", f"checkpointed region {number} names a node twice")


def _check_passes(trace: Trace) -> None:
    """Passes of one module stand apart, or each place of a long graph would have to be looked at once for each."""
    last_of: dict[str, int] = {}
    passes = trace.passes
    for module, first, last in zip(passes.module, passes.first, passes.last, strict=True):
        if not last_of.get(module, -1) < first <= last:
            raise TraceRefused("repeated", f"two calls of the module {clean_text(module[:80])!r} share nodes")
        last_of[module] = last


def _check_shapes_and_spans(trace: Trace) -> None:
    for shape in (*trace.nodes.shape, *trace.outputs.shape, *trace.cuts.shape, *trace.idle.shape):
        if len(shape) > MAX_DIMENSIONS:
            raise TraceRefused("bad-shape", f"a shape has {len(shape)} dimensions; torch allows {MAX_DIMENSIONS}")
    for span in (*trace.nodes.span, *trace.cuts.span, *trace.regions.span, *trace.idle.span):
        if span is not None and not _is_place(span):
            raise TraceRefused("bad-span", f"{span} is not a place in a source text")
    for module in (*trace.nodes.module, *trace.passes.module):
        if module.count(".") >= MAX_MODULE_DEPTH:
            raise TraceRefused("too-deep", f"a module path has {module.count('.') + 1} parts")


def _is_place(span: Span) -> bool:
    line, column, end_line, end_column = span
    within = all(0 <= number <= MAX_LINE for number in span)
    return within and line >= 1 and (line, column) <= (end_line, end_column)


def _check_numbers(trace: Trace) -> None:
    # A tracer writes a norm that is not finite as null, with "nan" in the text, because JSON has no such number.
    if any(norm is not None and not math.isfinite(norm) for norm in trace.events.norm):
        raise TraceRefused("bad-number", "a gradient's norm is not a finite number")
    calls = (("sequence", trace.nodes.sequence), ("backward", trace.nodes.backward), ("call", trace.events.call))
    for name, column in calls:
        if any(not -1 <= number < 2**64 for number in column):
            raise TraceRefused("bad-number", f"a {name} number does not fit in 64 bits")
    ports = (("slot", trace.edges.slot), ("output", trace.edges.output), ("output", trace.outputs.output))
    for name, column in ports:
        if max(column, default=0) > MAX_EDGES:
            raise TraceRefused("bad-number", f"an edge has {name} {max(column)}; at most {MAX_EDGES:,} is read")


def _check_acyclic(trace: Trace) -> None:
    """Kahn's algorithm: remove nodes that wait for no other; those that remain are on or behind a cycle."""
    consumers: dict[int, list[int]] = {}
    waits = [0] * len(trace.nodes.name)
    for source, target in zip(trace.edges.source, trace.edges.target, strict=True):
        consumers.setdefault(target, []).append(source)
        waits[source] += 1
    ready = [node for node, count in enumerate(waits) if count == 0]
    taken = 0
    while ready:
        node = ready.pop()
        taken += 1
        for consumer in consumers.get(node, ()):
            waits[consumer] -= 1
            if waits[consumer] == 0:
                ready.append(consumer)
    if taken < len(waits):
        raise TraceRefused("cycle", f"{len(waits) - taken:,} nodes are on or behind a cycle of edges")


def clean_text(text: str) -> str:
    """Text without control, unassigned, surrogate and direction-changing characters: each becomes U+FFFD."""
    if text.isprintable():
        return text
    return "".join(_clean_letter(letter) for letter in text)


def _clean_letter(letter: str) -> str:
    if letter in "\n\t":
        return " "
    return REPLACEMENT if unicodedata.category(letter) in ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp") else letter


def _clean_column(column: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(clean_text, column))


def _clean_table(table: Table, *columns: str) -> Table:
    return table.model_copy(update={column: _clean_column(getattr(table, column)) for column in columns})


def _clean(trace: Trace) -> Trace:
    return trace.model_copy(
        update={
            "nodes": _clean_table(trace.nodes, "name", "forward", "module", "dtype", "variable", "values", "saved"),
            "outputs": _clean_table(trace.outputs, "variable", "values"),
            "passes": _clean_table(trace.passes, "module"),
            "turns": _clean_table(trace.turns, "value"),
            "matrices": _clean_table(trace.matrices, "numbers"),
            "events": _clean_table(trace.events, "before", "incoming", "outgoing", "text"),
            "idle": _clean_table(trace.idle, "variable"),
            "worked": _clean_table(trace.worked, "numbers"),
            "formulas": _clean_column(trace.formulas),
            "notes": _clean_column(trace.notes),
            "torch": clean_text(trace.torch),
        }
    )
