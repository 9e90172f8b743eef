"""Traces for the tests of pictures: sketched by hand, recorded from real programs, or drawn at random."""

import json
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from app.pictures import Graph, read_graph
from graders.contract.trace import Cuts, Edges, Events, Nodes, Outputs, Passes, Regions, Turns
from graders.contract.trace_check import CheckedTrace, build_trace, read_trace

HERE = Path(__file__).parent
RECORDED = ("diamond", "mlp", "detach", "chunk", "checkpoint", "transformer", "rnn", "engine")

# A loaded machine draws slowly now and then: a deadline would tell nothing of the picture.
QUICK = settings(deadline=None, max_examples=25)

DEFAULTS: dict[str, Any] = {"shape": (), "span": None, "kind": "op", "node": None, "norm": None, "made_by": None}
NUMBERS = {"saved_bytes", "leaf_bytes", "sequence", "backward", "source", "target", "slot", "output", "call", "bytes"}


def fill_columns(table: type, rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Rows as columns; what a row does not say gets its column's plain value."""
    fields = table.model_fields  # type: ignore[attr-defined]
    return {name: [row.get(name, plain_value(name)) for row in rows] for name in fields}


def plain_value(column: str) -> Any:
    return DEFAULTS.get(column, 0 if column in NUMBERS else "")


class Sketch:
    """A trace under construction; each method gives the row's number."""

    def __init__(self) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.edges: list[dict[str, Any]] = []
        self.cuts: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []
        self.regions: list[dict[str, Any]] = []
        self.outputs: list[dict[str, Any]] = []
        self.passes: list[dict[str, Any]] = []
        self.turns: list[dict[str, Any]] = []

    def leaf(self, variable: str, **more: Any) -> int:
        self.nodes.append({"name": "AccumulateGrad", "forward": "leaf", "kind": "leaf", "variable": variable, **more})
        return len(self.nodes) - 1

    def op(self, forward: str, *inputs: int | tuple[int, int], **more: Any) -> int:
        """`inputs` are numbers of nodes, or (node, output)."""
        name = "".join(part.capitalize() for part in forward.split("_")) + "Backward0"
        self.nodes.append({"name": name, "forward": forward, **more})
        number = len(self.nodes) - 1
        for slot, item in enumerate(inputs):
            target, output = item if isinstance(item, tuple) else (item, 0)
            self.edges.append({"source": number, "target": target, "slot": slot, "output": output})
        return number

    def cut(self, node: int | None, kind: str = "detach", **more: Any) -> None:
        self.cuts.append({"node": node, "kind": kind, **more})

    def event(self, kind: str, node: int | None = None, **more: Any) -> None:
        self.events.append({"kind": kind, "node": node, **more})

    def document(self, *roots: int) -> dict[str, Any]:
        return {
            "nodes": fill_columns(Nodes, self.nodes),
            "edges": fill_columns(Edges, self.edges),
            "cuts": fill_columns(Cuts, self.cuts),
            "events": fill_columns(Events, self.events),
            "regions": fill_columns(Regions, self.regions),
            "outputs": fill_columns(Outputs, self.outputs),
            "passes": fill_columns(Passes, self.passes),
            "turns": fill_columns(Turns, self.turns),
            "roots": list(roots),
        }

    def trace(self, *roots: int) -> CheckedTrace:
        return read_trace(json.dumps(self.document(*roots)), most_bytes=2**30)

    def graph(self, *roots: int, source: str = "") -> Graph:
        return read_graph(self.trace(*roots), source)


def sketch_diamond() -> Sketch:
    """x feeds a and b, which meet in c."""
    sketch = Sketch()
    x = sketch.leaf("x", shape=(3,))
    a = sketch.op("mul", x, shape=(3,), span=(2, 4, 2, 9), variable="a", saved_bytes=8)
    b = sketch.op("exp", x, shape=(3,), span=(3, 4, 3, 11), variable="b", saved_bytes=24, saved="result")
    sketch.op("mul", a, b, shape=(3,), span=(4, 4, 4, 9), variable="c")
    return sketch


def sketch_chain(length: int, **more: Any) -> Sketch:
    sketch = Sketch()
    node = sketch.leaf("x")
    for _ in range(length):
        node = sketch.op("mul", node, **more)
    return sketch


def load_recorded(name: str) -> tuple[CheckedTrace, str]:
    """A trace that the tracer recorded, and its program. Columns younger than the file get plain values."""
    kept = json.loads((HERE / "traces" / f"{name}.json").read_text(encoding="utf-8"))
    document = kept["trace"]
    for key, table in (("nodes", Nodes), ("edges", Edges), ("cuts", Cuts), ("events", Events), ("regions", Regions)):
        columns = document[key]
        length = len(next(iter(columns.values()), []))
        for column in table.model_fields:
            columns.setdefault(column, [plain_value(column)] * length)
    return build_trace(document), kept["source"]


def open_recorded(name: str) -> Graph:
    return read_graph(*load_recorded(name))


@st.composite
def any_sketch(draw: st.DrawFn, most: int = 60) -> Sketch:
    """A graph of any shape: leaves, operations with up to three operands, modules, repeats, cuts, a region."""
    sketch = Sketch()
    made = [sketch.leaf(f"w{number}") for number in range(draw(st.integers(1, 4)))]
    modules = draw(st.lists(st.sampled_from(["", "a", "a.0", "a.1", "b", "b.c.d"]), min_size=1, max_size=8))
    for number in range(draw(st.integers(1, most))):
        near = draw(st.lists(st.integers(0, min(len(made), 8) - 1), min_size=1, max_size=3))
        operands = [made[-1 - back] for back in near]
        forward = draw(st.sampled_from(["mul", "exp", "chunk"]))
        line = draw(st.integers(1, 4))
        made.append(
            sketch.op(
                forward,
                *[
                    (item, draw(st.integers(0, 2))) if sketch.nodes[item]["forward"] == "chunk" else item
                    for item in operands
                ],
                module=modules[number * len(modules) // most],
                span=draw(st.sampled_from([None, (line, 0, line, 5)])),
                shape=(number % 3,),
                saved_bytes=draw(st.integers(0, 10**6)),
            )
        )
    for _ in range(draw(st.integers(0, 3))):
        sketch.cut(draw(st.sampled_from([None, *made])))
    if draw(st.booleans()):
        low = draw(st.integers(0, len(made) - 1))
        sketch.regions.append({"kind": "checkpoint", "nodes": made[low : low + 5], "span": None})
    for number, low in enumerate(sorted(draw(st.sets(st.integers(0, len(made) - 1), max_size=3))), 1):
        module = draw(st.sampled_from(["a", "a.0", "b", "b.c", "d"]))
        sketch.passes.append({"module": module, "number": number, "first": low, "last": low})
        sketch.outputs.append({"node": low, "output": number, "shape": (number,), "variable": f"o{number}"})
    return sketch
