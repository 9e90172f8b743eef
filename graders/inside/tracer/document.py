"""Writes a finished recording as the columns of the trace contract: numbers, text and spans only."""

import math
from array import array
from bisect import bisect_left
from typing import Any

import torch

from .collecting import without_collecting
from .graph import Row
from .held import HeldBytes
from .matrices import MAX_MATRICES, MAX_SIDE, Matrix, MatrixTable
from .naming import choose_kind, name_forward
from .numerals import write_values
from .positions import Origin, SourceMap
from .recorder import Recorder
from .saved import Saved, write_bytes
from .tape import Event

VERSION = 1
MAX_REGIONS = 2_000


def write_document(recorder: Recorder) -> dict[str, Any]:
    """The whole trace, JSON-ready."""
    with without_collecting():
        return write_tables(recorder)


def write_tables(recorder: Recorder) -> dict[str, Any]:
    recorder.graph.settle_owners()
    rows = order_rows(drop_phantoms(recorder.graph.rows))
    numbers = {row: number for number, row in enumerate(rows)}
    source = SourceMap(recorder.source)
    recorder.renderer.write_tape(recorder.tape.events)
    steps, bytes_of = write_steps(recorder, rows)
    limit = recorder.caps.max_events
    cut_short = recorder.tape.is_full or len(steps) > limit
    matrices = list_matrices(recorder, rows, [event for event, _ in steps[:limit]])
    return {
        "version": VERSION,
        "torch": torch.__version__,
        "engine": "torch",
        "nodes": write_nodes(recorder, rows, source, bytes_of) | {"made_by": write_makers(recorder, rows, numbers)},
        "outputs": write_outputs(recorder, rows),
        "passes": write_passes(recorder, rows),
        "turns": write_turns(recorder, rows),
        "matrices": matrices.write(),
        "edges": write_edges(rows, numbers),
        "cuts": write_cuts(recorder, numbers, source),
        "events": write_events(steps[:limit], numbers),
        **write_rules(recorder, rows, [event for event, _ in steps[:limit]]),
        "regions": write_regions(recorder, rows, numbers, source),
        "idle": write_idle(recorder, source),
        "roots": [numbers[row] for row in recorder.roots],
        "truncated": cut_short or recorder.graph.is_full,
        "notes": write_notes(recorder, cut_short, matrices.is_full),
    }


def drop_phantoms(rows: list[Row]) -> list[Row]:
    """Without leaves that only a cut met: no graph has them and no variable names them."""
    used = {target for row in rows for target, _, _ in row.edges}
    return [row for row in rows if not row.is_leaf or row.variable or row in used or row.reached_by >= 0]


def order_rows(rows: list[Row]) -> list[Row]:
    """Nodes in the order of the forward pass, each after its inputs; a leaf comes just before its first use."""
    ordered: dict[Row, None] = {}
    for row in sorted(rows, key=lambda row: row.made_at):
        # A view of memory changed in place gets its node when its first user is made: a later number, yet an input.
        waiting = [row]
        while waiting:
            missing = [target for target, _, _ in waiting[-1].edges if target not in ordered]
            if missing:
                waiting.extend(reversed(missing))
            else:
                ordered.setdefault(waiting.pop())
    return list(ordered)


def write_steps(recorder: Recorder, rows: list[Row]) -> tuple[list[tuple[Event, int]], dict[Row, tuple[Saved, ...]]]:
    """Every step with the bytes held after it. The creation of nodes is merged in by sequence number."""
    held = HeldBytes()
    first_saved: dict[Row, tuple[Saved, ...]] = {}
    steps: list[tuple[Event, int]] = []
    made = [row for row in rows if not row.is_leaf]
    at = 0

    def make_until(sequence: int) -> None:
        nonlocal at
        while at < len(made) and made[at].made_at < sequence:
            row = made[at]
            first_saved[row] = held.hold(row, row.saved)
            steps.append((Event("record", row, -1, row.sequence), held.total))
            at += 1

    for event in recorder.tape.events:
        make_until(event.sequence)
        if event.row is not None and event.kind == "free":
            held.free(event.row)
        elif event.row is not None and event.kind == "save":
            held.hold(event.row, event.refilled)
        steps.append((event, held.total))
    make_until(2**64)
    return steps, first_saved


def write_nodes(
    recorder: Recorder, rows: list[Row], source: SourceMap, first_saved: dict[Row, tuple[Saved, ...]]
) -> dict[str, list[Any]]:
    """One entry per node in every column."""
    origins = {row: recorder.find_origin(row) for row in rows}
    clip = recorder.caps.max_text
    return {
        "name": [row.name[:clip] for row in rows],
        "forward": [name_forward(row, origins[row])[:clip] for row in rows],
        "kind": [choose_kind(row, origins[row]) for row in rows],
        "module": [find_module(recorder, row, origins[row])[:clip] for row in rows],
        "span": [source.find_span(origin.site) if origin else None for origin in origins.values()],
        "shape": [row.shape for row in rows],
        "dtype": [row.dtype for row in rows],
        "variable": [row.variable[:clip] for row in rows],
        "values": [find_values(recorder, row, 0) for row in rows],
        "saved_bytes": [sum(slot.nbytes for slot in first_saved.get(row, ())) for row in rows],
        "leaf_bytes": [
            sum(slot.nbytes for slot in first_saved.get(row, ()) if slot.owner is not None) for row in rows
        ],
        "saved": [write_saved(row, clip) for row in rows],
        "sequence": [-1 if row.is_leaf else row.sequence for row in rows],
        "backward": [row.reached_by for row in rows],
    }


def find_values(recorder: Recorder, row: Row, output: int) -> str:
    """The small values of one output of a node."""
    if row.foreign is not None:
        return row.foreign.values if output == 0 else ""
    values = read_values(recorder, row, output)
    if values is None or type(values) is Matrix:
        return ""
    return write_values(values)[: recorder.caps.max_values]


def read_values(recorder: Recorder, row: Row, output: int) -> Any:
    return row.value if row.is_leaf else recorder.values.get((row.sequence, output))


def list_matrices(recorder: Recorder, rows: list[Row], events: list[Event]) -> MatrixTable:
    """The small matrices of nodes and of steps. Those of leaves come first: a loop's last step adds to them."""
    table = MatrixTable()
    for is_leaf in (True, False):
        for number, row in enumerate(rows):
            if row.is_leaf is is_leaf and row.foreign is None:
                table.keep("values", number, 0, read_values(recorder, row, 0))
        for number, event in enumerate(events):
            if event.row is not None and event.row.is_leaf is is_leaf:
                for of, side in (("before", event.held), ("incoming", event.received), ("outgoing", event.sent)):
                    table.keep_side(of, number, side)
    return table


def write_outputs(recorder: Recorder, rows: list[Row]) -> dict[str, list[Any]]:
    """The outputs of nodes from the second on."""
    found = [
        (number, output, shape, row.names.get(output, "") if row.names else "", find_values(recorder, row, output))
        for number, row in enumerate(rows)
        for output, shape in enumerate(row.shapes, 1)
    ]
    clip = recorder.caps.max_text
    return {
        "node": [each[0] for each in found],
        "output": [each[1] for each in found],
        "shape": [each[2] for each in found],
        "variable": [each[3][:clip] for each in found],
        "values": [each[4] for each in found],
    }


class Made:
    """The numbers of the nodes that the recording's own thread made, by when they were made."""

    def __init__(self, rows: list[Row]) -> None:
        own = sorted(
            (row.sequence, number) for number, row in enumerate(rows) if not row.is_leaf and row.foreign is None
        )
        self._sequences = [sequence for sequence, _ in own]
        self._numbers = [number for _, number in own]

    def list_between(self, start: int, end: int) -> list[int]:
        """The nodes with the sequence numbers start <= n < end."""
        return self._numbers[bisect_left(self._sequences, start) : bisect_left(self._sequences, end)]


def write_turns(recorder: Recorder, rows: list[Row]) -> dict[str, list[Any]]:
    """The turns of the program's loops, as stretches of nodes."""
    made = Made(rows)
    spans = [(turn, made.list_between(turn.start, turn.end)) for turn in recorder.turns.turns]
    found = [(turn, min(numbers), max(numbers)) for turn, numbers in spans if numbers]
    return {
        "line": [turn.line for turn, _, _ in found],
        "value": [turn.text for turn, _, _ in found],
        "first": [first for _, first, _ in found],
        "last": [last for _, _, last in found],
    }


def write_passes(recorder: Recorder, rows: list[Row]) -> dict[str, list[Any]]:
    """The calls of modules that were called more than once, as stretches of nodes."""
    made = Made(rows)
    ends: dict[int, int] = {}
    found: list[tuple[str, int, int, int]] = []
    for each in recorder.modules.list_repeated():
        numbers = made.list_between(each.start, each.end)
        if not numbers or min(numbers) <= ends.get(each.path, -1):
            continue  # a module that calls itself is one call
        ends[each.path] = max(numbers)
        found.append((recorder.modules.paths[each.path], each.number, min(numbers), max(numbers)))
    clip = recorder.caps.max_text
    return {
        "module": [each[0][:clip] for each in found],
        "number": [each[1] for each in found],
        "first": [each[2] for each in found],
        "last": [each[3] for each in found],
    }


def write_makers(recorder: Recorder, rows: list[Row], numbers: dict[Row, int]) -> list[int | None]:
    makers = [recorder.find_maker(row) for row in rows]
    return [None if maker is None else numbers[maker] for maker in makers]


def find_module(recorder: Recorder, row: Row, origin: Origin | None) -> str:
    """The module that made a node, or that owns a leaf."""
    if row.is_leaf:
        owner = row.variable.rpartition(".")[0]
        return owner if owner and recorder.modules.has_path(owner) else ""
    return recorder.modules.paths[origin.site.module] if origin is not None else ""


def write_saved(row: Row, most: int) -> str:
    """The node's saved tensors as text, slot by slot; if there is no room for all, the last slots are counted."""
    parts = [_write_slot(slot) for slot in row.saved]
    text = "; ".join(parts)
    while len(text) > most and parts:
        parts.pop()
        text = "; ".join([*parts, f"{len(row.saved) - len(parts)} more"])
    return text


def _write_slot(slot: Saved) -> str:
    if slot.holder is not None:
        return f"{slot.label}: made again in backward"
    if slot.key is None:
        return f"{slot.label}: packed by a hook"
    owner = f" = {slot.owner.variable or 'a leaf'}" if slot.owner is not None else ""
    return f"{slot.label}{owner} {slot.shape} {write_bytes(slot.nbytes)}"


def write_edges(rows: list[Row], numbers: dict[Row, int]) -> dict[str, list[int]]:
    """One entry per edge, from a node to the producers of its inputs."""
    edges = [(numbers[row], numbers[target], slot, output) for row in rows for target, slot, output in row.edges]
    names = ("source", "target", "slot", "output")
    return {name: [edge[at] for edge in edges] for at, name in enumerate(names)}


def write_cuts(recorder: Recorder, numbers: dict[Row, int], source: SourceMap) -> dict[str, list[Any]]:
    cuts = list(recorder.cuts.values())
    return {
        "kind": [cut.kind for cut in cuts],
        "span": [source.find_span(cut.site) for cut in cuts],
        "node": [None if cut.row is None else numbers.get(cut.row) for cut in cuts],
        "shape": [cut.shape for cut in cuts],
    }


def write_events(steps: list[tuple[Event, int]], numbers: dict[Row, int]) -> dict[str, list[Any]]:
    events = [event for event, _ in steps]
    return {
        "kind": [event.kind for event in events],
        "node": [None if event.row is None else numbers[event.row] for event in events],
        "call": [event.call for event in events],
        "bytes": [held for _, held in steps],
        "norm": [keep_finite(event.norm) for event in events],
        "before": [event.before for event in events],
        "incoming": [event.incoming for event in events],
        "outgoing": [event.outgoing for event in events],
        "text": [event.text for event in events],
    }


def write_rules(recorder: Recorder, rows: list[Row], events: list[Event]) -> dict[str, Any]:
    """The formula of each node that ran, and with numbers where they are few."""
    recorder.rules.run()
    formulas: dict[str, int] = {}
    found: list[tuple[int, int]] = []
    for number, row in enumerate(rows):
        if row.is_leaf or row.is_custom or row.reached_by < 0:
            continue
        text = recorder.rules.find(row)[: recorder.caps.max_values]
        found.append((number, formulas.setdefault(text, len(formulas))))
    worked = [(number, event.numbers) for number, event in enumerate(events) if event.numbers]
    return {
        "formulas": list(formulas),
        "rules": {"node": [node for node, _ in found], "formula": [formula for _, formula in found]},
        "worked": {"event": [event for event, _ in worked], "numbers": [numbers for _, numbers in worked]},
    }


def keep_finite(norm: float | None) -> float | None:
    # JSON has no NaN; the step's text still says nan or inf.
    return norm if norm is not None and math.isfinite(norm) else None


def write_regions(
    recorder: Recorder, rows: list[Row], numbers: dict[Row, int], source: SourceMap
) -> dict[str, list[Any]]:
    """Checkpointed regions that have nodes."""
    members = [
        sorted(
            numbers[row]
            for row in (region.rows or [r for r in rows if not r.is_leaf and region.start <= r.sequence < region.end])
        )
        for region in recorder.regions
    ]
    found = [(nodes, region) for nodes, region in zip(members, recorder.regions, strict=True) if nodes][:MAX_REGIONS]
    return {
        "kind": ["checkpoint" for _ in found],
        "nodes": [nodes for nodes, _ in found],
        "span": [source.find_span(region.site) for _, region in found],
    }


def write_idle(recorder: Recorder, source: SourceMap) -> dict[str, list[Any]]:
    clip = recorder.caps.max_text
    return {
        "variable": [name[:clip] for name, _, _, _ in recorder.idle],
        "shape": [shape for _, shape, _, _ in recorder.idle],
        "reason": [reason for _, _, reason, _ in recorder.idle],
        "span": [source.find_span(site) for _, _, _, site in recorder.idle],
    }


def write_notes(recorder: Recorder, cut_short: bool, has_more_matrices: bool) -> list[str]:
    notes = list(recorder.notes)
    if has_more_matrices:
        size = f"{MAX_SIDE} by {MAX_SIDE}"
        notes.append(f"The numbers of {MAX_MATRICES} matrices of up to {size} are kept; others have their norm.")
    if cut_short:
        notes.append(f"The tape stops after {recorder.caps.max_events:,} steps; the program went on.")
    if unseen := tell_unseen(recorder):
        notes.append(unseen)
    if recorder.graph.is_full:
        notes.append(f"Only the first {recorder.caps.max_nodes:,} nodes are shown.")
    return notes


def tell_unseen(recorder: Recorder) -> str:
    """Nodes that were let go before any walk met them."""
    numbers = array(
        "Q", sorted(row.sequence for row in recorder.graph.rows if not row.is_leaf and row.foreign is None)
    )
    unseen = [] if recorder.graph.is_full else recorder.calls.list_unseen(numbers)
    if not unseen:
        return ""
    count, source = sum(made for made, _ in unseen), SourceMap(recorder.source)
    spans = [source.find_span(site) for _, site in unseen]
    lines = sorted({span[0] for span in spans if span is not None})
    place = f" (line {lines[0]})" if len(lines) == 1 else f" (lines {lines[0]} to {lines[-1]})" if lines else ""
    what = "1 operation is" if count == 1 else f"{count:,} operations are"
    return f"{what} not shown, nor counted in the bytes held: let go before any backward reached the graph{place}."
