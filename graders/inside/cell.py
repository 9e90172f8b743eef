"""Inside the box: runs a free cell, traced on request, and reports once. Nothing it reports is trusted."""

import importlib
import json
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

from channel import write_all  # type: ignore[import-not-found]
from mistakes import (  # type: ignore[import-not-found]
    compile_source,
    describe_mistake,
    encode_mistake,
    flush_streams,
    prepare_streams,
)

FILENAME = "cell.py"
STACK_BYTES = 512 << 20
"""The stack of the learner's thread, because C code frees and walks deep graphs recursively. The box adds this
much address space to the limit."""


def run(payload: bytes, incoming: int, outgoing: int) -> None:
    """Payload: JSON {source, setup, want_trace, engine, caps}. One JSON document goes to `outgoing`.

    `engine` selects the tracer, "torch" or "learner"; `caps` holds document_bytes and the tracer's caps.
    """
    request = json.loads(payload)
    prepare_streams()
    report: dict[str, Any] = {}
    run_on_big_stack(lambda: report.update(execute(request)))
    flush_streams()
    write_all(outgoing, encode_report(report, request["caps"]["document_bytes"]))


def run_on_big_stack(work: Callable[[], None]) -> None:
    def work_with_small_threads() -> None:
        # Reset before the learner's first line; otherwise every thread that it starts would ask for as much.
        threading.stack_size(0)
        work()

    threading.stack_size(STACK_BYTES)
    thread = threading.Thread(target=work_with_small_threads, name="cell")
    thread.start()
    thread.join()


def execute(request: dict[str, Any]) -> dict[str, Any]:
    """ok, mistake, trace."""
    module = ModuleType("__main__")
    sys.modules["__main__"] = module
    tape = None
    try:
        exec(compile_source(request["setup"], "setup.py"), module.__dict__)
        code = compile_source(request["source"], FILENAME)
        if request["want_trace"]:
            tape = open_tape(request, module.__dict__)
            with tape:
                exec(code, module.__dict__)
        else:
            exec(code, module.__dict__)
    except SystemExit as leaving:
        mistake = None if not leaving.code else describe_mistake(leaving, FILENAME)
    except BaseException as error:  # noqa: BLE001 - whatever the cell raises is shown to the learner
        mistake = describe_mistake(error, FILENAME)
    else:
        mistake = None
    return {"ok": mistake is None, "mistake": mistake, **read_tape(tape)}


def read_tape(tape: Any) -> dict[str, Any]:
    """The trace, or why there is none: an unreadable tape must not fail the run."""
    if tape is None:
        return {"trace": None}
    try:
        return {"trace": tape.document()}
    except Exception as error:  # noqa: BLE001 - the cell may have broken what the tape holds
        return {"trace": None, "trace_refused": f"unreadable ({type(error).__name__}: {error})"[:200]}


def open_tape(request: dict[str, Any], namespace: dict[str, Any]) -> Any:
    # Imported only now: torch's tracer cannot be imported in a box without torch.
    tracer = importlib.import_module("tracer" if request["engine"] == "torch" else "tracer.learner")
    caps = importlib.import_module("tracer.caps").Caps.from_dict(request["caps"])
    return tracer.record(request["source"], filename=FILENAME, namespace=namespace, caps=caps)


def encode_report(report: dict[str, Any], document_bytes: int) -> bytes:
    """The report as JSON, without its trace if that is too long or not plain data."""
    if report["mistake"] is not None:
        report = {**report, "mistake": json.loads(encode_mistake(report["mistake"]))}
    try:
        raw = json.dumps(report, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError):
        raw = b""
    if raw and len(raw) <= document_bytes:
        return raw
    refused = "too large to show" if raw else "not made of plain numbers and texts"
    return json.dumps({**report, "trace": None, "trace_refused": refused}).encode()
