"""Writes a finished recording of a learner's engine as the columns of the trace contract."""

import math
from typing import Any

from ..caps import Caps
from ..numerals import write_values
from ..positions import SourceMap
from .protocol import MAX_NUMBERS, count_numbers, read_operation
from .rows import Entry, Row, Rows
from .unwinding import Step, Unwinding

VERSION = 1
CYCLE = "A value is among what it was computed from; the edge that closes the circle is left out."


def write_document(source: str, rows: Rows, log: list[Entry], notes: list[str], caps: Caps) -> dict[str, Any]:
    """The whole trace, JSON-ready."""
    roots = find_roots(rows, log)
    ordered, edges, is_cyclic = order_rows(rows, roots)
    steps = write_steps(rows, log, {id(row) for row in ordered})
    used = {id(step.row) for step in steps} | {id(row) for edge in edges for row in edge[:2]} | set(map(id, roots))
    ordered = [row for row in ordered if id(row) in used][: caps.max_nodes]
    numbers = {id(row): number for number, row in enumerate(ordered)}
    is_cut = len(steps) > caps.max_events
    told = [*notes, *([CYCLE] if is_cyclic else [])]
    if is_cut:
        told.append(f"The tape stops after {caps.max_events:,} steps; the program went on.")
    return {
        "version": VERSION,
        "torch": "",
        "engine": "learner",
        "nodes": write_nodes(rows, ordered, SourceMap(source), caps.max_text),
        "edges": write_edges(edges, numbers),
        "cuts": {"kind": [], "span": [], "node": [], "shape": []},
        "events": write_events(steps[: caps.max_events], numbers),
        "regions": {"kind": [], "nodes": [], "span": []},
        "roots": list(dict.fromkeys(numbers[id(root)] for root in roots if id(root) in numbers)),
        "truncated": is_cut or any(note.startswith("Only the first") for note in notes),
        "notes": told,
    }


def find_roots(rows: Rows, log: list[Entry]) -> list[Row]:
    """The values where backward began, and the named values that no other value uses."""
    begun = [entry.row for entry in log if entry.kind == "begin"]
    named = [row for row in list(rows.known.values()) if row.variable]
    used = {id(operand) for row in list(rows.known.values()) for operand in rows.list_operands(row)}
    ends = [row for row in named if id(row) not in used and rows.list_operands(row)]
    return list({id(row): row for row in (*begun, *ends)}.values())


def order_rows(rows: Rows, roots: list[Row]) -> tuple[list[Row], list[tuple[Row, Row, int]], bool]:
    """The values that the roots were computed from, in order of creation and each after its operands; the edges; and
    whether edges were left out because they closed a cycle."""
    ordered: list[Row] = []
    edges: list[tuple[Row, Row, int]] = []
    done: dict[int, bool] = {}
    is_cyclic = False
    for start in sorted(find_below(rows, roots), key=lambda row: row.number):
        if id(start) in done or (not rows.list_operands(start) and start.number >= 0):
            continue
        stack = [(start, iter(enumerate(rows.list_operands(start))))]
        done[id(start)] = False
        while stack:
            row, operands = stack[-1]
            slot, operand = next(operands, (-1, row))
            if slot < 0:
                done[id(row)] = True
                ordered.append(row)
                stack.pop()
            elif done.get(id(operand)) is False:
                is_cyclic = True
            else:
                edges.append((row, operand, slot))
                if id(operand) not in done:
                    done[id(operand)] = False
                    stack.append((operand, iter(enumerate(rows.list_operands(operand)))))
    return ordered, edges, is_cyclic


def find_below(rows: Rows, roots: list[Row]) -> list[Row]:
    found = {id(root): root for root in roots}
    waiting = list(roots)
    while waiting:
        for operand in rows.list_operands(waiting.pop()):
            if id(operand) not in found:
                found[id(operand)] = operand
                waiting.append(operand)
    return list(found.values())


def write_steps(rows: Rows, log: list[Entry], shown: set[int]) -> list[Step]:
    """The tape: each operation when it was made, and each backward call as observed."""
    steps: list[Step] = []
    calls, changes, root = 0, list[Entry](), None
    for entry in log:
        if entry.kind == "made":
            if id(entry.row) in shown and rows.list_operands(entry.row):
                steps.append(Step("record", entry.row))
        elif entry.kind == "begin":
            root, changes = entry.row, []
            steps.append(Step("backward", root, calls, text="backward"))
        elif entry.kind == "change":
            changes.append(entry)
        elif root is not None:
            steps += Unwinding(rows, root, changes, calls).tell()
            changes = []
            if entry.kind == "error":
                steps.append(Step("error", None, calls, text=entry.text))
            else:
                steps.append(Step("end", None, calls))
                calls, root = calls + 1, None
    return [step for step in steps if step.row is None or id(step.row) in shown]


def write_nodes(rows: Rows, ordered: list[Row], source: SourceMap, most: int) -> dict[str, list[Any]]:
    """One entry per value in every column. Nothing is saved except the values themselves."""
    operands = [rows.list_operands(row) for row in ordered]
    zeros = [0] * len(ordered)
    return {
        "name": ["" for _ in ordered],
        "forward": [
            (read_operation(row.value) or "?")[:most] if used else "leaf"
            for row, used in zip(ordered, operands, strict=True)
        ],
        "kind": ["op" if used else "leaf" for used in operands],
        "module": ["" for _ in ordered],
        "span": [source.find_span(row.site) for row in ordered],
        "shape": [row.shape for row in ordered],
        "dtype": [type(row.data).__name__ if type(row.data) in (int, float, complex) else "" for row in ordered],
        "variable": [row.variable[:most] for row in ordered],
        "values": [write_data(row.data)[:most] for row in ordered],
        "saved_bytes": zeros,
        "leaf_bytes": zeros,
        "saved": ["" for _ in ordered],
        "sequence": [row.number if used else -1 for row, used in zip(ordered, operands, strict=True)],
        "backward": [row.reached_by for row in ordered],
        "made_by": [None for _ in ordered],
    }


def write_data(numbers: Any) -> str:
    return "" if numbers is None or count_numbers(numbers) > MAX_NUMBERS else write_values(numbers)


def write_edges(edges: list[tuple[Row, Row, int]], numbers: dict[int, int]) -> dict[str, list[int]]:
    """One entry per edge, from a value to an operand."""
    kept = [edge for edge in edges if id(edge[0]) in numbers and id(edge[1]) in numbers]
    return {
        "source": [numbers[id(user)] for user, _, _ in kept],
        "target": [numbers[id(operand)] for _, operand, _ in kept],
        "slot": [slot for _, _, slot in kept],
        "output": [0] * len(kept),
    }


def write_events(steps: list[Step], numbers: dict[int, int]) -> dict[str, list[Any]]:
    kept = [step for step in steps if step.row is None or id(step.row) in numbers]
    return {
        "kind": [step.kind for step in kept],
        "node": [None if step.row is None else numbers[id(step.row)] for step in kept],
        "call": [step.call for step in kept],
        "bytes": [0] * len(kept),
        "norm": [step.norm if step.norm is not None and math.isfinite(step.norm) else None for step in kept],
        "before": [step.before for step in kept],
        "incoming": [step.incoming for step in kept],
        "outgoing": [step.outgoing for step in kept],
        "text": [step.text for step in kept],
    }
