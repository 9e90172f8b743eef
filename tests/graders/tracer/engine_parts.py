"""Engines as learners write them, each in another style, and what a recording of each tells."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graders.contract.trace import Trace
from graders.contract.trace_check import build_trace
from graders.inside.tracer import Caps
from graders.inside.tracer.learner import record

ROOT = Path(__file__).resolve().parents[3]
FILENAME = "cell.py"

CLOSURES = """\
class Value:
    def __init__(self, data, _children=(), _op=""):
        self.data, self.grad = data, 0.0
        self._prev, self._op, self._backward = {prev}, _op, lambda: None

    def __add__(self, other):
        out = Value(self.data + other.data, (self, other), "+")
        def _backward():
            self.grad += out.grad
            other.grad += out.grad
        out._backward = _backward
        return out

    def __mul__(self, other):
        out = Value(self.data * other.data, (self, other), "*")
        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad
        out._backward = _backward
        return out

    def backward(self):
        order, visited = [], set()
        def visit(node):
            if node not in visited:
                visited.add(node)
                for operand in node._prev:
                    visit(operand)
                order.append(node)
        visit(self)
        self.grad = 1.0
        for node in reversed(order):
            node._backward()
"""

LOOP = """\
class Value:
    {head}
    def __add__(self, other):
        return Value(self.data + other.data, (self, other), "+", (1.0, 1.0))

    def __mul__(self, other):
        return Value(self.data * other.data, (self, other), "*", (other.data, self.data))

    def order(self):
        order, visited = [], set()
        def visit(node):
            if node not in visited:
                visited.add(node)
                for operand in node._prev:
                    visit(operand)
                order.append(node)
        visit(self)
        return reversed(order)

    def backward(self{more}):
        {body}
"""
INIT = """def __init__(self, data, _prev=(), _op="", slopes=()):
        self.data, self.grad, self._prev, self._op, self.slopes = data, 0.0, _prev, _op, slopes
"""
ADDS = """self.grad = 1.0
        for node in self.order():
            for operand, slope in zip(node._prev, node.slopes):
                operand.grad += slope * node.grad"""
SUMS = """flowing = {self: 1.0}
        for node in self.order():
            arrived = flowing[node]
            node.grad += arrived
            for operand, slope in zip(node._prev, node.slopes):
                flowing[operand] = flowing.get(operand, 0.0) + slope * arrived"""
RECURSION = """self.grad += arrived
        for operand, slope in zip(self._prev, self.slopes):
            operand.backward(arrived * slope)"""

ENGINES = {
    "closures": CLOSURES.format(prev="_children"),
    "closures over sets": CLOSURES.format(prev="set(_children)"),
    "a loop that adds": LOOP.format(head=INIT, more="", body=ADDS),
    "a loop that sums first": LOOP.format(head=INIT, more="", body=SUMS),
    "recursion": LOOP.format(head=INIT, more=", arrived=1.0", body=RECURSION),
    "slots": LOOP.format(
        head='__slots__ = ("data", "grad", "_prev", "_op", "slopes")\n    ' + INIT, more="", body=ADDS
    ),
    "a dataclass": "from dataclasses import dataclass\n@dataclass(eq=False)\n"
    + LOOP.format(
        head='data: float\n    _prev: tuple = ()\n    _op: str = ""\n    slopes: tuple = ()\n    grad: float = 0.0\n',
        more="",
        body=ADDS,
    ),
}

PROGRAM = """\
x = Value(0.5)
w = Value(-1.25)
y = x * w + x
y.backward()
"""


@dataclass
class RanEngine:
    """What a program left, and what was recorded of it."""

    namespace: dict[str, Any]
    error: BaseException | None
    document: dict[str, Any]
    source: str

    @property
    def trace(self) -> Trace:
        return build_trace(self.document)

    def expressions(self) -> list[str]:
        """The source of each operation, in order."""
        lines, nodes = self.source.splitlines(), self.trace.nodes
        return [
            lines[span[0] - 1][span[1] : span[3]]
            for span, kind in zip(nodes.span, nodes.kind, strict=True)
            if kind == "op" and span is not None
        ]

    def told(self) -> list[tuple[str, ...]]:
        """The steps of the tape after the forward pass: kind, name, incoming, outgoing."""
        events, nodes = self.trace.events, self.trace.nodes
        rows = zip(events.kind, events.node, events.incoming, events.outgoing, strict=True)
        return [
            (kind, "" if node is None else nodes.variable[node] or nodes.forward[node], incoming, outgoing)
            for kind, node, incoming, outgoing in rows
            if kind in ("vjp", "accumulate")
        ]


def trace_engine(source: str, caps: Caps | None = None, setup: str = "") -> RanEngine:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(setup, "setup.py", "exec"), namespace)
    tape = record(source, FILENAME, namespace, caps)
    error: BaseException | None = None
    try:
        with tape:
            exec(compile(source, FILENAME, "exec"), namespace)
    except Exception as raised:  # noqa: BLE001 - the program's own error is part of what is compared
        error = raised
    return RanEngine(namespace, error, tape.document(), source)


def run_plainly(source: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(source, FILENAME, "exec"), namespace)
    return namespace


def import_alone(name: str) -> str:
    """Import a module where torch cannot be imported; what it printed."""
    code = f"import sys; sys.modules['torch'] = None; import {name}; print('imported')"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr
