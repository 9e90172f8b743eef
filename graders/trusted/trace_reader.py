"""Reads the one document that a free cell sends: capped, finite, in the contract's shape, a graph without cycles."""

import json
import math
from dataclasses import dataclass
from typing import Any, NoReturn

from pydantic import ValidationError

from graders.contract.limits import MAX_TRACE_BYTES
from graders.contract.results import Mistake
from graders.contract.trace import MAX_EVENTS, MAX_NODES, Trace
from graders.trusted.judge import read_mistake
from graders.trusted.text import clean_text

MOST_DOCUMENT_BYTES = MAX_TRACE_BYTES + 32 * 1024
LONGEST_REASON = 200


@dataclass(frozen=True)
class Report:
    """What the cell's process said of its run; `trace_refused` says why a trace was not taken, `unreadable` that the
    cell could not be compiled."""

    ok: bool
    mistake: Mistake | None
    trace: Trace | None
    trace_refused: str
    unreadable: bool = False


class TraceRefused(Exception):
    """The text says why, for the learner."""


def read_report(raw: bytes) -> Report | None:
    """The report, or None where the bytes are no report at all."""
    if not raw or len(raw) > MOST_DOCUMENT_BYTES:
        return None
    try:
        told = json.loads(raw, parse_constant=_refuse_number, parse_float=_finite_float)
    except (ValueError, RecursionError, TraceRefused):
        return None
    if not isinstance(told, dict):
        return None
    claim = told.get("mistake") if isinstance(told.get("mistake"), dict) else None
    mistake = read_mistake(claim) if claim else None
    unreadable = claim is not None and claim.get("unreadable") is True
    trace, refused = None, clean_text(str(told.get("trace_refused") or ""), LONGEST_REASON)
    if told.get("trace") is not None:
        try:
            trace = read_trace(told["trace"])
        except TraceRefused as why:
            refused = str(why)
    return Report(told.get("ok") is True and mistake is None, mistake, trace, refused, unreadable)


def read_trace(told: Any) -> Trace:
    """A trace that the picture code may rely on. Raises TraceRefused."""
    try:
        trace = Trace.model_validate(_clean(told))
    except RecursionError as error:
        raise TraceRefused("the graph's description is nested too deeply") from error
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise TraceRefused(f"the graph's description is malformed at {clean_text(where, 80)}") from error
    nodes = _length(trace.nodes, "nodes", MAX_NODES)
    _length(trace.edges, "edges", 4 * MAX_NODES)
    _length(trace.cuts, "cuts", MAX_EVENTS)
    _length(trace.events, "events", MAX_EVENTS)
    _length(trace.regions, "regions", MAX_EVENTS)
    _check_indices(trace, nodes)
    _check_acyclic(trace, nodes)
    return trace


def _length(table: Any, name: str, most: int) -> int:
    """The one length of all the columns of a table."""
    lengths = {len(column) for _, column in table}
    if len(lengths) > 1:
        raise TraceRefused(f"the columns of {name} differ in length")
    length = lengths.pop()
    if length > most:
        raise TraceRefused(f"{length} {name} are more than can be shown ({most})")
    return length


def _check_indices(trace: Trace, nodes: int) -> None:
    pointers = [*trace.edges.source, *trace.edges.target, *trace.roots]
    perhaps = (*trace.cuts.node, *trace.events.node, *trace.nodes.made_by)
    pointers += [node for node in perhaps if node is not None]
    pointers += [node for region in trace.regions.nodes for node in region]
    if any(node >= nodes for node in pointers):
        raise TraceRefused("an edge, cut, event or region points at a node that is not there")


def _check_acyclic(trace: Trace, nodes: int) -> None:
    """Kahn's algorithm: a node leaves when every edge into it has left."""
    waiting = [0] * nodes
    targets: list[list[int]] = [[] for _ in range(nodes)]
    for source, target in zip(trace.edges.source, trace.edges.target, strict=True):
        targets[source].append(target)
        waiting[target] += 1
    free = [node for node in range(nodes) if not waiting[node]]
    left = 0
    while free:
        left += 1
        for target in targets[free.pop()]:
            waiting[target] -= 1
            if not waiting[target]:
                free.append(target)
    if left < nodes:
        raise TraceRefused("the graph has a cycle")


def _clean(value: Any) -> Any:
    """Every text without control characters. The depth is the parser's, which is bounded."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [_clean(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _clean(entry) for key, entry in value.items()}
    return value


def _refuse_number(text: str) -> NoReturn:
    raise TraceRefused(f"{text} is no finite number")


def _finite_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        _refuse_number(text)
    return number
