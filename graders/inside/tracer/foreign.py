"""Nodes that another thread made: each thread counts its nodes from 0, so a number alone would name a wrong call.

A tag in the node's metadata says who made it, before any walk asks the log of the recording's own thread.
"""

import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

from .numerals import write_values
from .positions import Origin, Site

if TYPE_CHECKING:
    from .graph import Row
    from .recorder import Recorder

TAG = "unwind.foreign"
_TAGS = frozenset({TAG, "unwind.row"})
read_counter = torch._C._autograd._get_sequence_nr


@dataclass(slots=True)
class Foreign:
    """Where a node of another thread comes from; `made_at` is its place among the numbers of the recording's own."""

    origin: Origin | None
    made_at: float
    values: str = ""
    maker: "Row | None" = None


def tag_foreign(
    recorder: "Recorder", function: Any, call: tuple[Any, Any], before: int, after: int, frame: FrameType | None
) -> None:
    """Tag the nodes that one call in another thread made. `call`: its arguments and its result."""
    if before == after or not recorder.is_open:
        return
    given, result = call
    while frame is not None and frame.f_code.co_filename != recorder.filename:
        frame = frame.f_back
    site = None if frame is None else Site(frame.f_code, frame.f_lasti, 0, function)
    made_at = recorder.calls.latest - 0.5
    known = {tensor.grad_fn for tensor in iterate_tensors(given) if tensor.grad_fn is not None}
    for node, number in find_new(iterate_tensors(result), known, before, after):
        origin = None if site is None else Origin(site, before, after - before, number == after - 1, True)
        node.metadata[TAG] = Foreign(origin, made_at, _write_result(recorder, result) if number == after - 1 else "")


def tag_born(recorder: "Recorder", results: Iterable[Any], before: int, after: int, maker: "Row") -> None:
    """Tag the nodes that a node's backward made on another device's thread, for a second derivative."""
    if before == after:
        return
    made_at = recorder.calls.latest - 0.5
    for node, _ in find_new((each for each in results if each is not None), set(), before, after):
        node.metadata[TAG] = Foreign(None, made_at, maker=maker)


def find_new(results: Iterable[Any], known: set[Any], before: int, after: int) -> Iterator[tuple[Any, int]]:
    """Nodes behind the results, down to those that were there already."""
    waiting = [tensor.grad_fn for tensor in results]
    while waiting:
        node = waiting.pop()
        if node is None or node in known or not _TAGS.isdisjoint(node.metadata):
            continue
        known.add(node)
        number = node._sequence_nr()
        if before <= number < after:
            yield node, number
            waiting.extend(after for after, _ in node.next_functions)


def iterate_tensors(thing: Any) -> Iterator[Any]:
    if isinstance(thing, torch.Tensor):
        yield thing
    elif isinstance(thing, (tuple, list)):
        for part in thing:
            yield from iterate_tensors(part)


def _write_result(recorder: "Recorder", result: Any) -> str:
    if type(result) is not torch.Tensor or result.numel() > recorder.caps.max_value_items:
        return ""
    with torch.no_grad():
        return write_values(result.tolist())[: recorder.caps.max_values]


class WorkerListener(TorchFunctionMode):  # type: ignore[misc]
    """Hears the torch calls of one other thread."""

    def __init__(self, recorder: "Recorder") -> None:
        super().__init__()
        self._recorder = recorder

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        before = read_counter()
        result = function(*args, **(kwargs or {}))
        try:
            tag_foreign(self._recorder, function, (args, result), before, read_counter(), sys._getframe(1))
        except Exception as problem:  # noqa: BLE001 - the tracer's fault must not become the program's
            self._recorder.note_once(f"Other threads are not shown: {type(problem).__name__}: {problem}"[:200])
        return result


class ThreadWatch:
    """Lets each thread that the program starts run with its own listener."""

    def __init__(self, recorder: "Recorder") -> None:
        self._recorder = recorder
        self._original: Any = None

    def install(self) -> None:
        thread_class: Any = threading.Thread
        recorder, original = self._recorder, thread_class._bootstrap_inner
        self._original = original

        def bootstrap(thread: threading.Thread) -> None:
            with WorkerListener(recorder):
                original(thread)

        thread_class._bootstrap_inner = bootstrap

    def remove(self) -> None:
        thread_class: Any = threading.Thread
        thread_class._bootstrap_inner = self._original
