"""Where a wrong answer first differs, and at which node of the case's graph. Only for words, after the ruling."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from graders.contract.manifest import Tolerance
from graders.contract.results import CaseGraph, Difference, GraphNode
from graders.trusted.answers import Ruling
from graders.trusted.case import GraphSpec
from graders.trusted.compare import find_near
from graders.trusted.elements import Shapes, as_elements, find_label
from graders.trusted.reference import PreparedCase
from graders.trusted.render import render_value
from graders.trusted.wire import Answer, decode_answer, read_layout

Index = tuple[int, ...]
MAX_TEXT_LENGTH = 200


@dataclass(frozen=True)
class Told:
    """What a learner is shown about one answer besides its text."""

    difference: Difference | None = None
    graph: CaseGraph | None = None


def tell_difference(case: PreparedCase, ruling: Ruling, tolerance: Tolerance) -> Told:
    """Where the answer differs; empty if its layout is wrong, because the ruling already says that."""
    if ruling.answer is None:
        return Told()
    expected = decode_answer(read_layout(case.expected.header), case.expected.body)
    order = case.facts.graph
    return Told(
        find_difference(ruling.answer, expected, tolerance, case.facts.labels),
        compare_graph(order, ruling.answer, expected, tolerance) if order else None,
    )


def find_difference(
    got: Answer, expected: Answer, tolerance: Tolerance, labels: Mapping[str, Shapes] = MappingProxyType({})
) -> Difference | None:
    """The first element that is wrong, in the order of the expected names; None if all are right."""
    first: Difference | None = None
    far_total = 0
    for name in expected:
        given, wanted = as_elements(got[name]), as_elements(expected[name])
        if given.shape != wanted.shape:
            # Only lists of texts can differ here: all other shapes were compared as part of the layout.
            given, wanted = np.array(str(got[name]), object), np.array(str(expected[name]), object)
        far = ~find_near(given, wanted, tolerance)
        far_total += int(np.count_nonzero(far))
        if first is None and far.any():
            place = tuple(int(number) for number in np.unravel_index(int(np.argmax(far)), far.shape))
            label = find_label(labels.get(name, {}), int(np.argmax(far)))
            first = _describe(name, place, given[place], wanted[place]).model_copy(update={"label": label})
    return None if first is None else first.model_copy(update={"others": far_total - 1})


def compare_graph(order: GraphSpec, got: Answer, expected: Answer, tolerance: Tolerance) -> CaseGraph:
    """The case's graph with the answers at its nodes. A node without a matching answer shows none."""
    nodes = tuple(_compare_node(node.model_dump(), got, expected, tolerance) for node in order.nodes)
    places = range(len(nodes)) if order.walk == "forward" else range(len(nodes) - 1, -1, -1)
    first = next((place for place in places if nodes[place].right is False), None)
    return CaseGraph(walk=order.walk, nodes=nodes, first_wrong=first)


def _compare_node(node: dict[str, Any], got: Answer, expected: Answer, tolerance: Tolerance) -> GraphNode:
    shown = {name: node[name] for name in ("name", "op", "operands", "value")}
    place = read_place(node["answer"] or "")
    if place is None or place[0] not in expected:
        return GraphNode(**shown)
    name, index = place
    given, wanted = as_elements(got[name]), as_elements(expected[name])
    if given.shape != wanted.shape or len(index) > wanted.ndim or any(map(int.__ge__, index, wanted.shape)):
        return GraphNode(**shown)
    one, other = given[index], wanted[index]
    right = bool(np.all(find_near(np.asarray(one), np.asarray(other), tolerance)))
    return GraphNode(**shown, got=_write(one), expected=_write(other), right=right)


def read_place(text: str) -> tuple[str, Index] | None:
    """The name and index in "loss", "gradients[2]" or "weight[0, 1]"; None for any other form."""
    found = re.fullmatch(r"(\w+)(?:\[([\d, ]+)\])?", text)
    if found is None:
        return None
    return found[1], tuple(int(number) for number in (found[2] or "").split(",") if number.strip())


def _describe(name: str, index: Index, got: Any, expected: Any) -> Difference:
    off = None
    if isinstance(expected, np.number):
        distance = float(got) - float(expected)
        off = distance if np.isfinite(distance) else None
    return Difference(name=name, index=index, got=_write(got), expected=_write(expected), off_by=off)


def _write(value: Any) -> str:
    return render_value(value.item() if isinstance(value, np.generic) else value)[:MAX_TEXT_LENGTH]
