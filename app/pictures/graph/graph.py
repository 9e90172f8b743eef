"""A checked trace as a graph to read: which node feeds which, in forward order, with words for each node.

A linear layer records a node for the multiplication, one for the weight's transpose and some for changes of
shape. The learner wrote one call, so these helpers are *absorbed*: the multiplication shows them.
"""

import heapq
import re
from dataclasses import dataclass
from functools import cached_property

from app.pictures.budget import MAX_CODE_LETTERS
from app.pictures.graph.absorb import Input, find_helpers
from graders.contract.trace import Span
from graders.contract.trace_check import CheckedTrace

_BACKWARD_NAME = re.compile(r"^(.*?)Backward\d*$")
_MAX_CODE_LINES = 40
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True)
class Graph:
    """The graph of a trace. `order` lists the operations shown, producers before consumers, without leaves.

    `absorbed` maps each helper to the operation that shows it; `faces` maps an operation to the helper whose output
    is shown as the operation's.
    """

    trace: CheckedTrace
    lines: tuple[str, ...]
    inputs: tuple[tuple[Input, ...], ...]
    order: tuple[int, ...]
    absorbed: dict[int, int]
    faces: dict[int, int]
    leaves: tuple[int, ...]

    @cached_property
    def position(self) -> dict[int, int]:
        """The index of each shown operation in `order`."""
        return {node: place for place, node in enumerate(self.order)}

    @cached_property
    def absorbed_by(self) -> dict[int, tuple[int, ...]]:
        """For each operation, the nodes that it shows besides itself."""
        hosts: dict[int, list[int]] = {}
        for node, host in self.absorbed.items():
            hosts.setdefault(host, []).append(node)
        return {host: tuple(nodes) for host, nodes in hosts.items()}

    @cached_property
    def leaf_set(self) -> frozenset[int]:
        return frozenset(self.leaves)

    @cached_property
    def root_set(self) -> frozenset[int]:
        """The operations and leaves from which a backward pass started, or could start."""
        return frozenset(self.absorbed.get(root, root) for root in self.trace.roots)

    @cached_property
    def started(self) -> frozenset[int]:
        """The nodes from which a backward pass did start."""
        events = self.trace.events
        nodes = [node for kind, node in zip(events.kind, events.node, strict=True) if kind == "backward"]
        return frozenset(self.absorbed.get(node, node) for node in nodes if node is not None)

    @cached_property
    def cuts_at(self) -> dict[int | None, tuple[int, ...]]:
        """For each node, the rows of the table of cuts that belong to it; None holds the cuts of no known node."""
        found: dict[int | None, list[int]] = {}
        for row, node in enumerate(self.trace.cuts.node):
            found.setdefault(self.absorbed.get(node, node) if node is not None else None, []).append(row)
        return {node: tuple(rows) for node, rows in found.items()}

    @cached_property
    def seeds(self) -> dict[int, str]:
        """For each backward call's row, the text of the gradient that its first node receives."""
        events, found = self.trace.events, dict[int, str]()
        received: dict[tuple[int, int | None], str] = {}
        for row in reversed(range(len(events.kind))):
            place = events.call[row], events.node[row]
            if events.kind[row] == "backward":
                found[row] = received.get(place, "")
            received[place] = events.incoming[row]
        return found

    @cached_property
    def steps_at(self) -> dict[int, tuple[int, ...]]:
        """For each node, the steps of the tape that are about it, counted from 0."""
        found: dict[int, list[int]] = {}
        for step, node in enumerate(self.trace.events.node):
            if node is not None:
                found.setdefault(node, []).append(step)
        return {node: tuple(steps) for node, steps in found.items()}

    @cached_property
    def uses(self) -> dict[int, int]:
        """How many edges end at each node, which is how many parts its gradient has."""
        return {node: len(users) for node, users in self.users.items()}

    @cached_property
    def users(self) -> dict[int, tuple[int, ...]]:
        """For each node, the nodes that use its output."""
        found: dict[int, list[int]] = {}
        for source, target in zip(self.trace.edges.source, self.trace.edges.target, strict=True):
            found.setdefault(target, []).append(source)
        return {node: tuple(users) for node, users in found.items()}

    @cached_property
    def runners(self) -> frozenset[int]:
        """The nodes that a backward call ran."""
        events = self.trace.events
        ran = (
            node
            for kind, node in zip(events.kind, events.node, strict=True)
            if kind in ("vjp", "accumulate", "capture")
        )
        return frozenset(node for node in ran if node is not None)

    @cached_property
    def refilled(self) -> dict[int, int]:
        """For each node whose saved tensors a recomputation restores, how many bytes it then holds."""
        events, found = self.trace.events, dict[int, int]()
        for row, (kind, node) in enumerate(zip(events.kind, events.node, strict=True)):
            if kind == "save" and node is not None:
                before = events.bytes[row - 1] if row else 0
                found[node] = max(found.get(node, 0), events.bytes[row] - before)
        return found

    @cached_property
    def culprits(self) -> dict[int, int]:
        """For an operation that wrote in place, the one that failed because it had saved what was there before."""
        events, found = self.trace.events, dict[int, int]()
        for kind, node, text in zip(events.kind, events.node, events.text, strict=True):
            if kind == "error" and node is not None and "modified by an inplace operation" in text:
                touched = {node, *(item.node for item in self.inputs[node])}
                writers = (user for one in sorted(touched) for user in self.users.get(one, ()) if user > node)
                found.update((user, node) for user in writers if self.trace.nodes.kind[user] == "inplace")
        return found

    def most_held(self, node: int) -> int:
        """The most bytes that a node holds for backward at any time."""
        return max(self.trace.nodes.saved_bytes[node], self.refilled.get(node, 0))

    def operands(self, node: int) -> tuple[Input, ...]:
        """The inputs of a shown operation from outside its helpers; an absorbed producer is replaced by its host."""
        found = self._operands.get(node)
        if found is None:
            found = self._operands[node] = self._find_operands(node)
        return found

    @cached_property
    def _operands(self) -> dict[int, tuple[Input, ...]]:
        # A cache: computing the operands again for each leaf, edge and box made drawing quadratic.
        return {}

    def _find_operands(self, node: int) -> tuple[Input, ...]:
        found: list[Input] = []
        waiting = list(reversed(self.inputs[node]))
        opened: set[tuple[int, int]] = set()
        while waiting:
            item = waiting.pop()
            host = self.absorbed.get(item.node)
            if host != node:
                found.append(item if host is None else Input(host, item.slot, 0))
            elif (item.node, item.slot) not in opened:
                # Follow each slot once: a chain of helpers that use one another twice has exponentially many paths.
                opened.add((item.node, item.slot))
                inner = reversed(self.inputs[item.node])
                waiting.extend(Input(before.node, item.slot, before.output) for before in inner)
        return tuple(found)

    @cached_property
    def slots(self) -> dict[tuple[int, int], tuple[int, ...]]:
        """For each pair of a node and one that it uses, the input slots that connect them."""
        found: dict[tuple[int, int], list[int]] = {}
        for node, items in enumerate(self.inputs):
            for item in items:
                found.setdefault((node, item.node), []).append(item.slot)
        return {pair: tuple(slots) for pair, slots in found.items()}

    def members(self, node: int) -> tuple[int, ...]:
        """A shown operation with its helpers."""
        return (node, *self.absorbed_by.get(node, ()))

    def face(self, node: int) -> int:
        """The node whose output the rest of the program saw."""
        return self.faces.get(node, node)

    def title(self, node: int) -> str:
        """The forward name: what the learner called, as far as the trace knows it."""
        face = self.face(node)
        own = derive_forward_name(self.trace.nodes.name[face])
        if self.trace.nodes.forward[face] not in ("", own):
            return self.trace.nodes.forward[face]
        return self.trace.nodes.forward[node] or derive_forward_name(self.trace.nodes.name[node])

    @cached_property
    def outputs_at(self) -> dict[tuple[int, int], int]:
        """For a node and the number of an output, from 1, its row in the table of outputs."""
        outputs = self.trace.outputs
        return {pair: row for row, pair in enumerate(zip(outputs.node, outputs.output, strict=True))}

    @cached_property
    def rules(self) -> dict[int, str]:
        """The formulas that the tracer ran beside the engine; "" where none that it knows gave the same numbers."""
        rules, formulas = self.trace.rules, self.trace.formulas
        return {node: formulas[formula] for node, formula in zip(rules.node, rules.formula, strict=True)}

    @cached_property
    def worked(self) -> dict[int, str]:
        """For a row of the tape, its formula with numbers."""
        return dict(zip(self.trace.worked.event, self.trace.worked.numbers, strict=True))

    @cached_property
    def branching(self) -> frozenset[int]:
        """The nodes that have several outputs."""
        return frozenset(self.trace.outputs.node)

    def name_output(self, node: int, output: int) -> str:
        """The variable that holds an output of a node, or ""."""
        row = self.outputs_at.get((node, output)) if output else None
        if output and row is None and node in self.branching:
            return ""
        return self.trace.nodes.variable[node] if row is None else self.trace.outputs.variable[row]

    def code(self, span: Span | None) -> str:
        """The sub-expression at a span on one line, "" where the source does not have it."""
        return slice_source(self.lines, span)


def derive_forward_name(backward_name: str) -> str:
    """`AddmmBackward0` -> `addmm`, `NllLossBackward0` -> `nll_loss`: recover the function from autograd's name."""
    match = _BACKWARD_NAME.match(backward_name)
    return _CAMEL.sub("_", match.group(1)).lower() if match and match.group(1) else backward_name


def slice_source(lines: tuple[str, ...], span: Span | None) -> str:
    """The text at a span with each run of white space as one space; "" if the source has no such place."""
    if span is None or span[0] > len(lines):
        return ""
    line, column, end_line, end_column = span
    picked = list(lines[line - 1 : min(end_line, line + _MAX_CODE_LINES)])
    if len(picked) == end_line - line + 1:
        picked[-1] = picked[-1][:end_column]
    picked[0] = picked[0][column:]
    code = " ".join(" ".join(text[: 4 * MAX_CODE_LETTERS] for text in picked).split())
    return code if len(code) <= MAX_CODE_LETTERS else f"{code[:MAX_CODE_LETTERS]}…"


def read_graph(trace: CheckedTrace, source: str = "") -> Graph:
    """The graph on which every picture and tape is based. `source` is the text that the trace's spans point into."""
    inputs = _group_inputs(trace)
    leaves = tuple(node for node, kind in enumerate(trace.nodes.kind) if kind == "leaf" and not inputs[node])
    helpers = find_helpers(trace, inputs)
    hidden = frozenset(leaves) | helpers.hosts.keys()
    order = tuple(node for node in _forward_order(inputs, frozenset(leaves)) if node not in hidden)
    return Graph(trace, tuple(source.splitlines()), inputs, order, helpers.hosts, helpers.faces, leaves)


def _group_inputs(trace: CheckedTrace) -> tuple[tuple[Input, ...], ...]:
    found: list[list[Input]] = [[] for _ in trace.nodes.name]
    edges = trace.edges
    for source, target, slot, output in zip(edges.source, edges.target, edges.slot, edges.output, strict=True):
        found[source].append(Input(target, slot, output))
    return tuple(tuple(sorted(items, key=lambda item: item.slot)) for items in found)


def _forward_order(inputs: tuple[tuple[Input, ...], ...], leaves: frozenset[int]) -> tuple[int, ...]:
    """The trace's order if producers come first in it, as the tracer writes it; else the nearest such order.

    A leaf may come anywhere, because the picture places it beside its users.
    """
    if all(item.node < node or item.node in leaves for node, items in enumerate(inputs) for item in items):
        return tuple(range(len(inputs)))
    consumers: dict[int, list[int]] = {}
    waits = [len(items) for items in inputs]
    for node, items in enumerate(inputs):
        for item in items:
            consumers.setdefault(item.node, []).append(node)
    ready = [node for node, count in enumerate(waits) if count == 0]
    order: list[int] = []
    while ready:
        node = heapq.heappop(ready)
        order.append(node)
        for consumer in consumers.get(node, ()):
            waits[consumer] -= 1
            if waits[consumer] == 0:
                heapq.heappush(ready, consumer)
    return tuple(order)
