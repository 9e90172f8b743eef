"""Walks backward graphs and keeps one row per node; the nodes themselves are released when the walk ends.

A small tag in each node's metadata gives later walks its row, and signals when the node is destroyed.
"""

import weakref
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.autograd.function import BackwardCFunction

from .collecting import without_collecting
from .foreign import TAG as FOREIGN_TAG
from .foreign import Foreign
from .matrices import read_small
from .numerals import write_values
from .saved import Saved, describe_saved, read_saved

AccumulateGrad = torch._C._functions.AccumulateGrad
TAG = "unwind.row"
LEAF_SEQUENCE = 2**64 - 1


class Row:
    """The facts about one node. `number` is its place in discovery order; the document renumbers."""

    __slots__ = (
        "arrived",
        "dtype",
        "edges",
        "foreign",
        "formula",
        "holds",
        "is_custom",
        "is_leaf",
        "latest",
        "leaf",
        "name",
        "names",
        "number",
        "reached_by",
        "saved",
        "sequence",
        "shape",
        "shapes",
        "uses",
        "value",
        "variable",
    )

    def __init__(self, number: int, name: str, is_leaf: bool, is_custom: bool, sequence: int) -> None:
        self.number = number
        self.name = name
        self.is_leaf = is_leaf
        self.is_custom = is_custom
        self.sequence = sequence
        self.shape: tuple[int, ...] = ()
        self.shapes: tuple[tuple[int, ...], ...] = ()
        """Of the outputs from the second on."""
        self.dtype = self.variable = ""
        self.names: dict[int, str] | None = None
        self.value: Any = None
        """Of a small leaf: its numbers when the tracer met it, and in `latest` when they were read last."""
        self.latest: Any = None
        self.leaf: Any = None
        self.edges: list[tuple[Row, int, int]] = []
        self.uses = 0
        """How many edges end at the node: how many parts its gradient may have."""
        self.arrived: tuple[Any, int, int] | None = None
        """What was seen of the one part that was sent to it, where that is in memory, and in which version."""
        self.saved: tuple[Saved, ...] = ()
        self.holds = False
        self.reached_by = -1
        self.foreign: Foreign | None = None
        self.formula: str | None = None
        """The rule of its backward as text; "" where none agrees with the engine, None where none was looked for."""

    def give_name(self, output: int, name: str) -> None:
        """The first name that a variable gives to an output stays."""
        if output == 0:
            self.variable = self.variable or name
        else:
            self.names = self.names or {}
            self.names.setdefault(output, name)

    @property
    def made_at(self) -> float:
        """Its place among the nodes of the recording's own thread."""
        return self.sequence if self.foreign is None else self.foreign.made_at


class Tag:
    """Stored in a node's metadata, and destroyed with the node."""

    __slots__ = ("__weakref__", "gone", "row")

    def __init__(self, row: Row, gone: Callable[[Row], None]) -> None:
        self.row = row
        self.gone = gone

    def __del__(self) -> None:
        if self.row.holds:
            self.gone(self.row)


class Graph:
    """Every row met so far. Leaves are known by their variable, other nodes by their tag."""

    def __init__(self, max_nodes: int, max_value_items: int, on_gone: Callable[[Row], None]) -> None:
        self.rows: list[Row] = []
        self.is_full = False
        self.operations = 0
        self.holders: dict[int, Row] = {}
        self._max_nodes = max_nodes
        self._max_value_items = max_value_items
        self._on_gone = on_gone
        self._leaves: dict[int, tuple[weakref.ref[Any], Row]] = {}
        self._storages: dict[int | None, Row] = {}
        self._walks: list[tuple[int, dict[int | None, Row]]] = []

    def find_row(self, node: Any) -> Row | None:
        """The row of a node that an earlier walk met."""
        if type(node) is AccumulateGrad:
            return self.find_leaf(node.variable)
        tag = node.metadata.get(TAG)
        return tag.row if type(tag) is Tag else None

    def find_leaf(self, variable: Any) -> Row | None:
        """The row of a leaf tensor."""
        known = self._leaves.get(id(variable))
        return known[1] if known is not None and known[0]() is variable else None

    def find_holder(self, tensor: Any) -> Row | None:
        """The row of the node, or of the leaf, behind a tensor or a gradient edge."""
        if isinstance(tensor, torch.autograd.graph.GradientEdge):
            return self.find_row(tensor.node)
        node = tensor.grad_fn
        return self.find_leaf(tensor) if node is None else self.find_row(node)

    def adopt_leaf(self, variable: Any) -> Row:
        """The row of a leaf that appears in a cut before it appears in a graph."""
        return self.find_leaf(variable) or self._add_leaf(variable)

    def discover(self, roots: Iterable[Any]) -> list[Row]:
        """Adds new reachable nodes and returns the rows met. Stops at known nodes, whose inputs are known too."""
        unknown = [node for node in roots if node is not None and self.find_row(node) is None]
        return [row for _, row in self._traverse(unknown, enters_known=False)]

    def walk(self, roots: Iterable[Any]) -> list[tuple[Any, Row]]:
        """Every reachable node with its row, adding new ones. The caller must release the nodes soon."""
        return self._traverse([node for node in roots if node is not None], enters_known=True)

    def _traverse(self, stack: list[Any], enters_known: bool) -> list[tuple[Any, Row]]:
        with without_collecting():
            return self._visit(stack, enters_known)

    def _visit(self, stack: list[Any], enters_known: bool) -> list[tuple[Any, Row]]:
        found: list[tuple[Any, Row]] = []
        met: dict[int, Row] = {}
        fresh: list[tuple[Row, Any]] = []
        while stack:
            node = stack.pop()
            key = id(node)
            if key in met:
                continue
            row = self.find_row(node)
            is_new = row is None
            row = row or self._add(node)
            if row is None:
                break
            met[key] = row
            found.append((node, row))
            if is_new or enters_known:
                inputs = node.next_functions
                stack.extend([after for after, _ in inputs if after is not None])
                if is_new:
                    fresh.append((row, inputs))
        if fresh:
            self._link(fresh, met)
            known = self._walks[-1][1] if self._walks else {}
            self._walks.append((len(self.rows), known if known == self._storages else dict(self._storages)))
        return found

    def settle_owners(self) -> None:
        """Say which saved tensors were a leaf's own memory when a walk met them: later its data may be others."""
        first = 0
        for last, storages in self._walks:
            for row in self.rows[first:last]:
                if any(slot.key in storages for slot in row.saved):
                    row.saved = tuple(slot._replace(owner=storages.get(slot.key)) for slot in row.saved)
            first = last
        self._walks.clear()

    def refresh_leaves(self) -> list[Row]:
        """Read every leaf's storage again, and small leaves' values: those that changed."""
        self._storages.clear()
        changed: list[Row] = []
        for known, row in self._leaves.values():
            variable = known()
            if variable is None:
                continue
            self._storages[describe_saved("", variable).key] = row
            if row.latest is None:
                continue
            value = self._read_leaf(variable)
            # Lists with nan differ from themselves.
            if value != row.latest and write_values(value) != write_values(row.latest):
                row.latest = value
                changed.append(row)
        return changed

    def _link(self, fresh: list[tuple[Row, Any]], met: dict[int, Row]) -> None:
        for row, inputs in fresh:
            slot, edges = 0, row.edges
            for after, output in inputs:
                if after is not None and (target := met.get(id(after))) is not None:
                    edges.append((target, slot, output))
                    target.uses += 1
                slot += 1  # noqa: SIM113 - enumerate would make a pair for each input, of which most are none

    def _add(self, node: Any) -> Row | None:
        """A new row; None where there are as many as are kept."""
        if len(self.rows) >= self._max_nodes:
            self.is_full = True
            return None
        if type(node) is AccumulateGrad:
            return self._add_leaf(node.variable)
        row = self._read_operation(node, node.metadata)
        self.rows.append(row)
        return row

    def _add_leaf(self, variable: Any) -> Row:
        row = Row(len(self.rows), "AccumulateGrad", True, False, LEAF_SEQUENCE)
        row.shape = tuple(variable.shape)
        row.dtype = name_dtype(variable.dtype)
        row.leaf = weakref.ref(variable)
        self._storages[describe_saved("", variable).key] = row
        row.value = row.latest = self._read_leaf(variable)
        self._leaves[id(variable)] = (row.leaf, row)
        self.rows.append(row)
        return row

    def _read_leaf(self, variable: Any) -> Any:
        """A small leaf's numbers, or None."""
        if variable.layout != torch.strided:
            return None
        try:
            return read_small(variable, self._max_value_items)
        except (RuntimeError, NotImplementedError):
            return None  # a leaf on the meta device has a shape and no numbers

    def _read_operation(self, node: Any, metadata: dict[str, Any]) -> Row:
        name, is_custom = _known_types.get(type(node)) or _name_node(node)
        row = Row(len(self.rows), name, False, is_custom, node._sequence_nr())
        outputs = node._input_metadata
        if outputs:
            row.shape, row.dtype = _read_output(outputs[0])
            if len(outputs) > 1:
                row.shapes = tuple(_read_output(output)[0] for output in outputs[1:])
        saved = read_saved(node)
        if saved:
            row.saved, row.holds = saved, True
            for slot in saved:
                if slot.holder is not None:
                    self.holders[slot.holder] = row
        row.foreign = metadata.get(FOREIGN_TAG)
        metadata[TAG] = Tag(row, self._on_gone)
        self.operations += 1
        return row


_known_types: dict[type, tuple[str, bool]] = {}
_dtype_names: dict[Any, str] = {}


def _name_node(node: Any) -> tuple[str, bool]:
    """The node's name without torch's namespaces, and whether it belongs to a Function of the program's own."""
    kind = type(node)
    known = (node.name().rpartition("::")[2], issubclass(kind, BackwardCFunction))
    if known[0] == kind.__name__ and not known[1]:
        # Of the types that torch makes for several kinds of nodes, none is named like the node.
        _known_types[kind] = known
    return known


def name_dtype(dtype: Any) -> str:
    """float32, not torch.float32."""
    name = _dtype_names[dtype] = str(dtype).removeprefix("torch.")
    return name


def _read_output(output: Any) -> tuple[tuple[int, ...], str]:
    try:
        shape = tuple(output.shape)
    except (RuntimeError, TypeError, ValueError):
        shape = ()  # nested tensors have no single shape
    dtype = output.dtype
    return shape, _dtype_names.get(dtype) or name_dtype(dtype)


def read_root(tensor: Any) -> Any:
    """The node from which backward starts for this tensor or gradient edge; None if it is not tracked."""
    if isinstance(tensor, torch.autograd.graph.GradientEdge):
        return tensor.node
    if not isinstance(tensor, torch.Tensor) or not tensor.requires_grad:
        return None
    if tensor.grad_fn is not None:
        return tensor.grad_fn
    return torch.autograd.graph.get_gradient_edge(tensor).node
