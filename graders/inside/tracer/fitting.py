"""Makes a document small enough to be read: first without values, then with a shorter tape, then with fewer nodes.

What counts is above all the size after compression: the tape of a loop repeats itself.
"""

import json
import re
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from .caps import Caps

Document = dict[str, Any]

_VALUES = re.compile(r"(\([\d, ]*\)) (?!‖)[^;]+")
NODE_TEXTS = ("values", "saved")
EVENT_TEXTS = ("before", "incoming", "outgoing")
ATTEMPTS = 6
TAIL = 4
"""Of nodes that are left, one in so many is taken from the graph's end, where the loss is."""


def fit_document(document: Document, caps: Caps) -> Document:
    """The document, or as much of it as the caps allow, with a note for each thing left out."""
    if fits(document, caps) >= 1:
        return document
    if "matrices" in document:
        document = drop_matrices(document)
        if fits(document, caps) >= 1:
            return document
    lighter = drop_values(document)
    if fits(lighter, caps) >= 1:
        return lighter
    note = "The tape is too long to be sent whole: its end is left out."
    shorter = find_longest(lighter, len(lighter["events"]["kind"]), keep_events, caps, note)
    if shorter is not None:
        return shorter
    note = "The graph is too large to be sent whole: nodes in its middle are left out, and all of its tape."
    without_tape = keep_events(lighter, 0)
    smaller = find_longest(without_tape, len(lighter["nodes"]["name"]), keep_nodes, caps, note)
    return smaller if smaller is not None else keep_nodes(without_tape, 0)


def fits(document: Document, caps: Caps) -> float:
    """How many times the document would fit into the caps; at least 1 where it does."""
    raw = json.dumps(document, separators=(",", ":"), allow_nan=False).encode()
    plain = caps.max_document_bytes / len(raw)
    if plain < 1 or len(raw) <= caps.max_packed_bytes:
        return plain
    return min(plain, caps.max_packed_bytes / len(zlib.compress(raw, 6)))


def find_longest(
    document: Document, count: int, keep: Callable[[Document, int], Document], caps: Caps, note: str
) -> Document | None:
    """About the longest prefix that fits; None if not even an empty one does.

    Each attempt writes the document once, so the next length is guessed from the size of the last.
    """
    best, low, high, length = None, 0, count, count
    for _ in range(ATTEMPTS):
        candidate = {**keep(document, length), "notes": [*document["notes"], note], "truncated": True}
        times = fits(candidate, caps)
        if times >= 1:
            best, low = candidate, length
        else:
            high = length
        if times >= 1 and (times < 1.1 or high - low <= 1):
            break
        length = max(low, min(high - 1, int(length * times * 0.97)))
        if length == low:
            length = (low + high) // 2
    if best is None:
        candidate = {**keep(document, 0), "notes": [*document["notes"], note], "truncated": True}
        best = candidate if fits(candidate, caps) >= 1 else None
    return best


def drop_matrices(document: Document) -> Document:
    """The document without tables of numbers: a matrix keeps its norm."""
    if not document["matrices"]["of"]:
        return document
    return {
        **document,
        "matrices": {name: [] for name in document["matrices"]},
        "notes": [*document["notes"], "The numbers of matrices are left out: the program is large."],
        "truncated": True,
    }


def drop_values(document: Document) -> Document:
    """The document without small tensors' values: shapes and norms remain."""
    nodes, events = document["nodes"], document["events"]
    lighter = {
        **document,
        "nodes": {**nodes, **{name: [""] * len(nodes["name"]) for name in NODE_TEXTS}},
        "events": {**events, **{name: [_VALUES.sub(r"\1", text) for text in events[name]] for name in EVENT_TEXTS}},
        "notes": [*document["notes"], "Values are left out: the program is large."],
        "truncated": True,
    }
    if "outputs" in document:
        outputs = document["outputs"]
        lighter["outputs"] = {**outputs, "values": [""] * len(outputs["node"])}
        lighter["worked"] = {"event": [], "numbers": []}
    return lighter


def keep_events(document: Document, count: int) -> Document:
    shorter = {**document, "events": {name: column[:count] for name, column in document["events"].items()}}
    if "worked" in document:
        worked = document["worked"]
        shorter["worked"] = keep_where(worked, [event < count for event in worked["event"]])
    return shorter


def keep_nodes(document: Document, count: int) -> Document:
    """The document with only some nodes, most from the beginning and some from the end, and the edges among them."""
    total = len(document["nodes"]["name"])
    tail = min(count // TAIL, total - count)
    kept = [*range(count - tail), *range(total - tail, total)]
    places = {node: place for place, node in enumerate(kept)}
    edges, cuts, regions = (document[name] for name in ("edges", "cuts", "regions"))
    nodes = {name: [column[node] for node in kept] for name, column in document["nodes"].items()}
    nodes["made_by"] = [places.get(maker) for maker in nodes["made_by"]]
    ends = zip(edges["source"], edges["target"], strict=True)
    linked = keep_where(edges, [source in places and target in places for source, target in ends])
    inside = [[places[node] for node in region if node in places] for region in regions["nodes"]]
    return {
        **document,
        "nodes": nodes,
        "edges": renumber(linked, ("source", "target"), places),
        "cuts": {**cuts, "node": [places.get(node) for node in cuts["node"]]},
        "regions": keep_where({**regions, "nodes": inside}, [bool(members) for members in inside]),
        "roots": [places[root] for root in document["roots"] if root in places],
        **keep_about_nodes(document, places),
    }


def keep_about_nodes(document: Document, places: dict[int, int]) -> Document:
    """What the tables beside the nodes say of some. An engine of the learner's own has no such tables."""
    found: Document = {}
    for name, columns in (
        ("outputs", ("node",)),
        ("rules", ("node",)),
        ("passes", ("first", "last")),
        ("turns", ("first", "last")),
    ):
        if name in document:
            table = document[name]
            rows = zip(*(table[column] for column in columns), strict=True)
            kept = keep_where(table, [all(node in places for node in row) for row in rows])
            found[name] = renumber(kept, columns, places)
    return found


def renumber(table: Document, columns: Sequence[str], places: dict[int, int]) -> Document:
    return {**table, **{column: [places[node] for node in table[column]] for column in columns}}


def keep_where(table: Document, kept: list[bool]) -> Document:
    return {
        name: [value for value, is_kept in zip(column, kept, strict=True) if is_kept]
        for name, column in table.items()
    }
