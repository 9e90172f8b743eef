"""Runs programs plainly, traced and under anomaly mode, each on a fresh thread with a big stack."""

import math
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from graders.contract.trace import Trace
from graders.inside.tracer import Caps, record

PROGRAMS = Path(__file__).parent / "programs"
FILENAME = "cell.py"
STACK_BYTES = 512 * 2**20


def list_programs() -> list[str]:
    return sorted(path.stem for path in PROGRAMS.glob("*.py"))


def read_program(name: str) -> str:
    return (PROGRAMS / f"{name}.py").read_text(encoding="utf-8")


def run_on_big_stack(work: Callable[[], Any]) -> Any:
    """A fresh thread: autograd's sequence numbers start at 0 there, and deep graphs need its stack."""
    outcome: dict[str, Any] = {}

    def target() -> None:
        try:
            outcome["result"] = work()
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread
            outcome["error"] = error

    before = threading.stack_size(STACK_BYTES)
    try:
        thread = threading.Thread(target=target)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    if "error" in outcome:
        raise outcome["error"]
    return outcome["result"]


@dataclass
class Ran:
    """What a program left: every tensor by name, the state of the random numbers, and its error."""

    tensors: dict[str, torch.Tensor]
    random_state: torch.Tensor
    error: BaseException | None
    namespace: dict[str, Any]
    document: dict[str, Any]

    @property
    def trace(self) -> Trace:
        return Trace.model_validate(self.document)


def list_tensors(namespace: dict[str, Any]) -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = {}

    def keep(name: str, value: Any) -> None:
        if isinstance(value, torch.Tensor):
            found[name] = value.detach().to_dense().clone()
            if value.is_leaf and value.grad is not None:
                found[f"{name}.grad"] = value.grad.detach().to_dense().clone()
        elif isinstance(value, torch.nn.Module):
            for part, tensor in [*value.named_parameters(), *value.named_buffers()]:
                keep(f"{name}.{part}", tensor)
        elif isinstance(value, (list, tuple)):
            for at, part in enumerate(value):
                keep(f"{name}[{at}]", part)
        elif isinstance(value, float):
            found[name] = torch.tensor(value, dtype=torch.float64)

    for name, value in namespace.items():
        if not name.startswith("__"):
            keep(name, value)
    return found


def run(source: str, *, traced: bool, caps: Caps | None = None) -> Ran:
    def work() -> Ran:
        torch.manual_seed(1)
        namespace: dict[str, Any] = {"__name__": "__main__"}
        code = compile(source, FILENAME, "exec")
        tape = record(source, FILENAME, namespace, caps)
        error: BaseException | None = None
        try:
            if traced:
                with tape:
                    exec(code, namespace)
            else:
                exec(code, namespace)
        except Exception as raised:  # noqa: BLE001 - the program's own error is part of what is compared
            error = raised
        state = torch.get_rng_state()
        document = tape.document() if traced else {}
        return Ran(list_tensors(namespace), state, error, namespace, document)

    return run_on_big_stack(work)


def trace(source: str, caps: Caps | None = None) -> Trace:
    return run(source, traced=True, caps=caps).trace


def read_lines_by_anomaly_mode(source: str) -> dict[int, tuple[str, int | None]]:
    """Sequence number -> (node's name, line of the learner's source), as anomaly mode's tracebacks have them."""
    lines: dict[int, tuple[str, int | None]] = {}

    def visit(nodes: list[Any], made: int = 2**63) -> None:
        seen: set[Any] = set()
        stack = [node for node in nodes if node is not None]
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            stack.extend(after for after, _ in node.next_functions if after is not None)
            number = node._sequence_nr()
            if number < made:
                lines[number] = (node.name(), find_line(node.metadata.get("traceback_", [])))

    def work() -> None:
        torch.manual_seed(1)
        namespace: dict[str, Any] = {"__name__": "__main__"}
        original = torch.autograd.graph._engine_run_backward

        def run_engine(outputs: Any, *args: Any, **kwargs: Any) -> Any:
            visit([edge.node if not isinstance(edge, torch.Tensor) else edge.grad_fn for edge in outputs])
            return original(outputs, *args, **kwargs)

        torch.autograd.graph._engine_run_backward = torch.autograd._engine_run_backward = run_engine
        try:
            with torch.autograd.set_detect_anomaly(True, check_nan=False):
                exec(compile(source, FILENAME, "exec"), namespace)
        finally:
            torch.autograd.graph._engine_run_backward = torch.autograd._engine_run_backward = original
        # CaseSession a view of changed memory for its grad_fn makes a node that the program did not make.
        made = torch._C._autograd._get_sequence_nr()
        visit([value.grad_fn for value in namespace.values() if isinstance(value, torch.Tensor)], made)

    run_on_big_stack(work)
    return lines


def find_line(stack: list[str]) -> int | None:
    found = None
    for entry in stack:
        head = entry.strip().splitlines()[0]
        if head.startswith(f'File "{FILENAME}", line '):
            found = int(head.split("line ")[1].split(",")[0])
    return found


def are_equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Bit for bit, NaN equal to itself."""
    return one.dtype == other.dtype and torch.equal(
        torch.nan_to_num(one.resolve_conj(), nan=math.pi) if not one.is_complex() else torch.view_as_real(one),
        torch.nan_to_num(other.resolve_conj(), nan=math.pi) if not other.is_complex() else torch.view_as_real(other),
    )


def write_error(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))
