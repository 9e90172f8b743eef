"""A drill for the site's tests: its question, and graphs that need no torch."""

import base64
import json
import zlib
from typing import Any

from app.course.chapter import ChapterParser
from app.course.drills.drill import Drill, DrillGraph
from app.course.drills.reading import read_drills
from app.course.language.typeset import Typesetter
from app.course.loader import KATEX
from graders.contract.trace import Edges, Events, Nodes, Trace

TEXT = """\
:::{question} sums
:kind: number
:role: synthetic
:concepts: accumulation
:variant: sums
What is `{{leaf}}.grad`?

- [ ] {{half}}
  > That is one of the two paths.
- [ ] *
  > Add both paths.

+++
Both paths together give {{answer}}.
:::
"""
CLICK = """\
:::{question} click
:kind: graph-click
:role: synthetic
:concepts: accumulation
:variant: click
Click the leaf.

- [ ] {{wrong}}
  > That is an operation.
- [ ] *
  > Look for the pill.

+++
It is `{{answer}}`.
:::
"""
GENERATOR = "def draw(rng, level):\n    return {}\n"
SOURCE = "import torch\n\nx = torch.tensor({0}.0, requires_grad=True)\ny = x * x\nz = y + x\nw = z + y\nw.backward()"


def make_drills() -> tuple[Drill, ...]:
    texts = {"sums.md": TEXT, "sums.py": GENERATOR, "click.md": CLICK, "click.py": GENERATOR}
    read = read_drills(texts, {"accumulation": "Adding up"}, ChapterParser(Typesetter(KATEX.read_text())))
    assert read.problems == ()
    return read.drills


def make_graph(number: int, level: int = 1, drill: str = "sums") -> DrillGraph:
    values: dict[str, Any] = {"code": SOURCE.format(number), "observe": "gradient x", "leaf": "x"}
    values |= {"answer": 7771.0, "half": 4.0} if drill == "sums" else {"answer": "x", "wrong": "y"}
    return DrillGraph(number, level, values, make_trace().model_dump_json(), 3)


def make_trace() -> Trace:
    """Three operations on one leaf, walked once: the leaf's gradient is 7771."""
    kinds = ("record", "record", "record", "backward", "vjp", "vjp", "vjp", "accumulate", "end")
    nodes = (1, 2, 3, 3, 3, 2, 1, 0, None)
    blank = ("",) * len(kinds)
    return Trace(
        torch="2.13.0",
        nodes=Nodes(
            name=("AccumulateGrad", "MulBackward0", "AddBackward0", "AddBackward0"),
            forward=("leaf", "mul", "add", "add"), kind=("leaf", "op", "op", "op"), module=("",) * 4,
            span=(None, (4, 4, 4, 9), (5, 4, 5, 9), (6, 4, 6, 9)), shape=((),) * 4, dtype=("float32",) * 4,
            variable=("x", "y", "z", "w"), values=("2.0", "4.0", "6.0", "10.0"), saved_bytes=(0, 4096, 0, 0),
            leaf_bytes=(0,) * 4, saved=("", "self = x", "", ""), sequence=(-1, 0, 1, 2), backward=(0,) * 4,
            made_by=(None,) * 4,
        ),
        edges=Edges(source=(1, 1, 2, 2, 3, 3), target=(0, 0, 1, 0, 2, 1), slot=(0, 1) * 3, output=(0,) * 6),
        events=Events(
            kind=kinds, node=nodes, call=(-1, -1, -1, 0, 0, 0, 0, 0, 0), bytes=(4096,) * 9, norm=(None,) * 9,
            before=blank, incoming=blank, text=blank,
            outgoing=("",) * 7 + ("() 7771.0", ""),
        ),
        roots=(3,),
    )  # fmt: skip


def print_drawn(*graphs: DrillGraph) -> str:
    """What a job prints that drew these graphs."""
    lines = []
    for graph in graphs:
        packed = base64.b64encode(zlib.compress(graph.trace_json.encode())).decode()
        lines.append(f"drill: {json.dumps([graph.seed, graph.level, dict(graph.values), packed, '', None])}")
    return "\n".join(lines)
