"""What a program's graphs and backward calls are, read without any of the tracer's code.

The graph is a walk of `next_functions`; lines come from anomaly mode; what a node received and sent comes from its
own hook, and the bytes held from hooks on saved tensors.
"""

import math
import weakref
from dataclasses import dataclass, field
from typing import Any

import torch
from tracer_parts import FILENAME, run_on_big_stack

LEAF = 2**64 - 1
MAX_ITEMS = 12


@dataclass
class Facts:
    """Nodes by sequence number: name, shape, and edges as (slot, number of the target or -1 for a leaf, output)."""

    nodes: dict[int, tuple[str, tuple[int, ...], tuple[tuple[int, int, int], ...]]] = field(default_factory=dict)
    runs: list[tuple[int, str, str]] = field(default_factory=list)
    """In order: which node ran, what it received and what it sent."""
    added: list[str] = field(default_factory=list)
    """In order: what was added to leaves."""
    held: list[int] = field(default_factory=list)
    """The bytes that saved tensors held when each backward call began."""


class Box:
    """A saved tensor; it lives as long as a node needs it."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor.detach()


def read_facts(source: str) -> Facts:
    facts = Facts()
    run_on_big_stack(lambda: _watch(source, facts))
    run_on_big_stack(lambda: _weigh(source, facts))
    return facts


def _watch(source: str, facts: Facts) -> None:
    original = torch.autograd.graph._engine_run_backward

    def run_engine(outputs: Any, *args: Any, **kwargs: Any) -> Any:
        nodes = _walk([getattr(edge, "grad_fn", None) or getattr(edge, "node", None) for edge in outputs], facts)
        handles = [node.register_hook(_make_hook(node, facts)) for node in nodes]
        try:
            return original(outputs, *args, **kwargs)
        finally:
            for handle in handles:
                handle.remove()

    _run(source, run_engine)


def _run(source: str, run_engine: Any) -> None:
    original = torch.autograd.graph._engine_run_backward
    torch.manual_seed(1)
    torch.autograd.graph._engine_run_backward = torch.autograd._engine_run_backward = run_engine
    try:
        exec(compile(source, FILENAME, "exec"), {"__name__": "__main__"})
    finally:
        torch.autograd.graph._engine_run_backward = torch.autograd._engine_run_backward = original


def _walk(roots: list[Any], facts: Facts) -> list[Any]:
    seen: set[Any] = set()
    waiting = [root for root in roots if root is not None]
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        waiting.extend(after for after, _ in node.next_functions if after is not None)
        if node._sequence_nr() != LEAF:
            edges = tuple(
                (slot, -1 if after._sequence_nr() == LEAF else after._sequence_nr(), output)
                for slot, (after, output) in enumerate(node.next_functions)
                if after is not None
            )
            shape = tuple(node._input_metadata[0].shape)
            facts.nodes[node._sequence_nr()] = (node.name().rpartition("::")[2], shape, edges)
    return list(seen)


def _make_hook(node: Any, facts: Facts) -> Any:
    number = node._sequence_nr()

    def ran(sent: Any, received: Any) -> None:
        with torch.no_grad():
            if number == LEAF:
                facts.added.append(_write(received))
            else:
                facts.runs.append((number, _write(received), _write(sent)))

    return ran


def _write(gradients: Any) -> str:
    return "; ".join(_write_one(each) for each in gradients)


def _write_one(gradient: Any) -> str:
    if gradient is None:
        return "·"
    shape = str(tuple(gradient.shape))
    if gradient.layout != torch.strided:
        return f"{shape} sparse"
    if gradient.numel() <= MAX_ITEMS:
        return f"{shape} {_write_numbers(gradient.tolist())}"
    return f"{shape} ‖{math.sqrt(float((gradient.double().abs() ** 2).sum())):.2g}‖"


def _write_numbers(numbers: Any) -> str:
    if isinstance(numbers, list):
        return f"[{', '.join(map(_write_numbers, numbers))}]"
    text = f"{numbers:.4g}"
    return text if isinstance(numbers, complex) or any(sign in text for sign in ".en") else f"{text}.0"


def _weigh(source: str, facts: Facts) -> None:
    boxes: weakref.WeakSet[Box] = weakref.WeakSet()
    original = torch.autograd.graph._engine_run_backward

    def pack(tensor: torch.Tensor) -> Box:
        box = Box(tensor)
        boxes.add(box)
        return box

    def run_engine(outputs: Any, *args: Any, **kwargs: Any) -> Any:
        storages = [box.tensor.untyped_storage() for box in boxes if box.tensor.layout == torch.strided]
        facts.held.append(sum({storage._cdata: storage.nbytes() for storage in storages}.values()))
        return original(outputs, *args, **kwargs)

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda box: box.tensor):
        _run(source, run_engine)
