"""Makes a document small enough to send: first without values, then with a shorter tape, then with fewer nodes."""

import json
import re
from collections.abc import Callable
from typing import Any

Document = dict[str, Any]

_VALUES = re.compile(r"(\([\d, ]*\)) (?!‖)[^;]+")
NODE_TEXTS = ("values", "saved")
EVENT_TEXTS = ("before", "incoming", "outgoing")


def fit_document(document: Document, max_bytes: int) -> Document:
    """The document, or as much of it as fits in `max_bytes` of compact JSON, with a note for each part left out."""
    if count_bytes(document) <= max_bytes:
        return document
    lighter = drop_values(document)
    if count_bytes(lighter) <= max_bytes:
        return lighter
    note = "The tape is too long to be sent whole: its end is left out."
    shorter = find_longest(lighter, len(lighter["events"]["kind"]), keep_events, max_bytes, note)
    if shorter is not None:
        return shorter
    note = "The graph is too large to be sent whole: its last nodes are left out."
    without_tape = keep_events(lighter, 0)
    smaller = find_longest(without_tape, len(lighter["nodes"]["name"]), keep_nodes, max_bytes, note)
    return smaller if smaller is not None else keep_nodes(without_tape, 0)


def count_bytes(document: Document) -> int:
    return len(json.dumps(document, separators=(",", ":"), allow_nan=False))


def find_longest(
    document: Document, count: int, keep: Callable[[Document, int], Document], max_bytes: int, note: str
) -> Document | None:
    """The longest prefix that fits, to within a hundredth; None if not even the empty one fits."""
    best, low, high = None, 0, count
    while low <= high and (best is None or high - low > count // 100):
        middle = (low + high) // 2 if best is not None or low else 0
        candidate = keep(document, middle)
        candidate = {**candidate, "notes": [*candidate["notes"], note], "truncated": True}
        if count_bytes(candidate) <= max_bytes:
            best, low = candidate, middle + 1
        else:
            high = middle - 1
    return best


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
    """The document with only the first nodes and the edges and steps among them."""
    edges, cuts, events, regions = (document[name] for name in ("edges", "cuts", "events", "regions"))
    nodes = {name: column[:count] for name, column in document["nodes"].items()}
    nodes["made_by"] = [maker if maker is not None and maker < count else None for maker in nodes["made_by"]]
    return {
        **document,
        "nodes": nodes,
        "edges": keep_where(
            edges, [max(pair) < count for pair in zip(edges["source"], edges["target"], strict=True)]
        ),
        "cuts": {**cuts, "node": [node if node is not None and node < count else None for node in cuts["node"]]},
        "events": keep_where(events, [node is None or node < count for node in events["node"]]),
        "regions": keep_where(regions, [max(inside) < count for inside in regions["nodes"]]),
        "roots": [root for root in document["roots"] if root < count],
        **keep_about_nodes(document, count),
    }


def keep_about_nodes(document: Document, count: int) -> Document:
    """What the tables beside the nodes say of the first nodes. An engine of the learner's own has no such tables."""
    columns = (("outputs", "node"), ("passes", "last"), ("rules", "node"))
    return {
        name: keep_where(document[name], [node < count for node in document[name][column]])
        for name, column in columns
        if name in document
    }


def keep_where(table: Document, kept: list[bool]) -> Document:
    return {
        name: [value for value, is_kept in zip(column, kept, strict=True) if is_kept]
        for name, column in table.items()
    }
