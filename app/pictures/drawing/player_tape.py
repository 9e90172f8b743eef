"""The tape as one compact document for the browser's player: columns, with each sentence written by the server."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from app.pictures.drawing.paint import write_spans
from app.pictures.graph.formulas import ANY, UNKNOWN, Formula, find_formula, find_scalar_formula
from app.pictures.graph.graph import Graph, derive_forward_name
from app.pictures.graph.words import drop_shape, is_number, write_shape
from app.pictures.tape.lists import find_holders, find_unreached
from app.pictures.tape.sentences import name_node, tell_steps
from app.pictures.tape.steps import find_calls, group_steps


@dataclass(frozen=True, slots=True)
class Tape:
    """The document that the player steps through. `start` is how many steps are taken when a reader first sees it."""

    document: dict[str, Any]
    start: int


Places = Mapping[str, tuple[str, str]]
"""For each rule's name, the link to its explanation: address and text."""


def write_tape(graph: Graph, explained: Places = MappingProxyType({})) -> Tape:
    """The document of a graph's tape. `explained` links rules to the pages that explain them."""
    trace = graph.trace
    steps = group_steps(graph)
    rows = tell_steps(graph, steps)
    calls = find_calls(graph, steps)
    start = calls[0].last if calls and calls[0].label == "forward" else 0
    document = {
        "engine": trace.engine,
        "operations": len(graph.order),
        "start": start,
        "steps": {
            "node": [step.node for step in steps],
            "first": [step.first for step in steps],
            "last": [step.last for step in steps],
            "main": [step.main for step in steps],
            "name": [row.name for row in rows],
            "told": [row.sentence for row in rows],
            "worked": [
                [number, graph.worked[step.main]] for number, step in enumerate(steps) if step.main in graph.worked
            ],
        },
        "calls": [[call.label, call.first, call.last] for call in calls],
        "events": _write_events(graph),
        "matrices": _write_matrices(graph),
        "nodes": _write_nodes(graph, explained),
        "edges": {
            "source": trace.edges.source,
            "target": trace.edges.target,
            "slot": trace.edges.slot,
            "output": trace.edges.output,
        },
        "hosts": list(graph.absorbed.items()),
        "culprits": list(graph.culprits.items()),
        "holders": [[item.node, item.words, item.held_bytes] for item in find_holders(graph)],
        "unreached": [[item.node, item.words] for item in find_unreached(graph)],
    }
    return Tape(document, start)


def _write_events(graph: Graph) -> dict[str, Any]:
    events = graph.trace.events
    seeds = [[row, drop_shape(text)] for row, text in sorted(graph.seeds.items())]
    return {
        "kind": events.kind,
        "node": events.node,
        "call": events.call,
        "bytes": events.bytes,
        "norm": events.norm,
        "before": events.before,
        "incoming": events.incoming,
        "outgoing": events.outgoing,
        "seeds": seeds,
    }


def _write_matrices(graph: Graph) -> list[tuple[str, str]]:
    """For each matrix the place of its text, as `incoming 12 0`, and its numbers."""
    matrices = graph.trace.matrices
    rows = zip(matrices.of, matrices.at, matrices.slot, matrices.numbers, strict=True)
    return [(f"{of} {at} {slot}", numbers) for of, at, slot, numbers in rows]


def _write_nodes(graph: Graph, explained: Places) -> dict[str, Any]:
    nodes = graph.trace.nodes
    numbers = range(len(nodes.name))
    formulas: dict[Formula, int] = {}
    which = [formulas.setdefault(_find_formula(graph, node), len(formulas)) for node in numbers]
    return {
        "label": [name_node(graph, node) for node in numbers],
        "kind": nodes.kind,
        "variable": nodes.variable,
        "module": nodes.module,
        "span": [write_spans((span,)) or "" for span in nodes.span],
        "shape": ["" if is_number(graph, node) else write_shape(nodes.shape[node]) for node in numbers],
        "dtype": nodes.dtype,
        "values": nodes.values,
        "saved": nodes.saved,
        "saved_bytes": nodes.saved_bytes,
        "refilled": list(graph.refilled.items()),
        "formula": which,
        "formulas": [formula.text for formula in formulas],
        "explained": [explained.get(formula.rule, explained.get(ANY)) for formula in formulas],
    }


def _find_formula(graph: Graph, node: int) -> Formula:
    nodes = graph.trace.nodes
    if graph.trace.engine == "learner":
        return find_scalar_formula(nodes.forward[node], nodes.kind[node])
    known = find_formula(graph.title(node), derive_forward_name(nodes.name[node]), nodes.kind[node])
    text = graph.rules.get(node)
    if text is None:
        return known
    return Formula(known.rule, text) if text else Formula(ANY, UNKNOWN)
