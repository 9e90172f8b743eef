"""The reference process: a trusted fork server that draws cases and runs the probe on the solution, outside the box.

Each submission gets its own fork, so exercises' code cannot mix. It never sees a learner's code, only the values of a
wrong answer that it is asked to diagnose. No other thread may exist before a fork, because torch's threads would not
survive it.
"""

import contextlib
import importlib
import json
import os
import resource
import signal
import socket
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import numpy.random

from graders import prepare_for_fork
from graders.contract.manifest import Inputs, Judge, Tolerance
from graders.trusted.case import HOST
from graders.trusted.drawn_cases import DrawnCases, DrawRequest, describe_fault, open_host, prepare_cases
from graders.trusted.examination import ExamineRequest, examine
from graders.trusted.session import MAX_SECONDS, MAX_WALL_SECONDS, SessionEnded, receive_message, send_message
from graders.trusted.wire import decode_answer, read_layout

MAX_MEMORY_BYTES = 4 << 30
MAX_ORDER_LENGTH = 64 * 1024
TORCH_MODULES = (
    "torch",
    "torch._dynamo",
    "torch.utils.checkpoint",
    "torch.func",
    "torch._decomp.decompositions_for_jvp",
)
"""torch, and what it imports on first use: 1.5 s of CPU time for a first optimizer, 0.1 s for a first jvp."""


def main(descriptor: int) -> None:
    """Serve until the judge closes its end.

    An order is JSON {exercise, seed, torch, findings, judge, tolerance} and a descriptor to answer on. With an empty
    exercise it only asks the process to import what is needed; with an empty seed it asks for the author's mistakes.
    """
    control = socket.socket(fileno=descriptor)
    # An operator's Ctrl-C reaches every process of the terminal, but this one ends when the judge closes its socket.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    prepare_for_fork.rest(prepare_for_fork.open_map())
    while True:
        raw, descriptors, _, _ = socket.recv_fds(control, MAX_ORDER_LENGTH, 1)
        if not raw:
            return
        order = json.loads(raw)
        if order["torch"] and "torch" not in sys.modules:
            with prepare_for_fork.importing():
                import_torch()
            prepare_for_fork.rest(prepare_for_fork.open_map())
        with socket.socket(fileno=descriptors[0]) as channel:
            if order["exercise"] and os.fork() == 0:
                serve_in_child(control, channel, order)


def import_torch() -> None:
    """Import torch once before the forks, with one thread: a fork of a torch with threads hangs."""
    torch, *_ = [importlib.import_module(name) for name in TORCH_MODULES]
    torch.set_num_threads(1)
    with torch.no_grad():
        # The first operation detects the processor's features; done here, no child has to do it again.
        ones = torch.ones(2, 2)
        (ones @ ones).clamp_min(0)
    if len(list(Path("/proc/self/task").iterdir())) > 1 or threading.active_count() > 1:
        raise RuntimeError("importing torch started threads; the reference process cannot fork")


def serve_in_child(control: socket.socket, channel: socket.socket, order: dict[str, Any]) -> None:
    """Serve one session and exit. Never returns, because the code after the call is the parent's."""
    try:
        control.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CPU, (MAX_SECONDS, MAX_SECONDS))
        resource.setrlimit(resource.RLIMIT_DATA, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.alarm(MAX_WALL_SECONDS)
        # The solution of a program to be fixed may print, and that output is not wanted here.
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
            (serve_session if order["seed"] else serve_examination)(channel, order)
    except SessionEnded:
        pass
    except BaseException:  # noqa: BLE001 - the judge hears of it through the channel's end
        traceback.print_exc()
    finally:
        os._exit(0)


def serve_session(channel: socket.socket, order: dict[str, Any]) -> None:
    """Send every case with its expected answer, then answer questions until the judge closes the session."""
    folder = Path(order["exercise"])
    try:
        seed, findings = int(order["seed"], 16), frozenset(order["findings"])
        draw = DrawRequest(seed, findings, Judge(order["judge"]), Inputs(order["inputs"]))
        drawn, facts, raw = prepare_cases(folder, draw)
    except Exception as error:  # noqa: BLE001 - author's code; the operator reads what it raised
        send_message(channel, {"fault": describe_fault(folder, error)})
        return
    send_message(channel, {"cases": facts}, raw)
    hosts: dict[int, Any] = {}
    while True:
        question, body = receive_message(channel)
        if "ask" in question:
            place = question["ask"]
            if place not in hosts:
                hosts[place] = open_host(folder, drawn.inputs[place][HOST])
            told = ask_host(hosts[place], body)
            send_message(channel, {"told": told is not None}, told or b"")
        else:
            send_message(channel, {"code": diagnose(drawn, question, body)})


def serve_examination(channel: socket.socket, order: dict[str, Any]) -> None:
    """Say which file is at work, so that the judge knows whose code ended this process; at the end, what is wrong."""
    findings, judge, inputs = frozenset(order["findings"]), Judge(order["judge"]), Inputs(order["inputs"])
    request = ExamineRequest(Path(order["exercise"]), findings, judge, Tolerance(**order["tolerance"]), inputs)
    send_message(channel, examine(request, lambda file: send_message(channel, {"at": file})).model_dump(mode="json"))


def diagnose(drawn: DrawnCases, question: dict[str, Any], body: bytes) -> str | None:
    """The code that the exercise's own `diagnose` gives for a wrong answer, or None."""
    if drawn.diagnose is None:
        return None
    got = decode_answer(read_layout(question["layout"].encode()), body)
    place = question["case"]
    try:
        code = drawn.diagnose(drawn.inputs[place], got, drawn.expected[place])
    except Exception:  # noqa: BLE001 - a strange answer must not cost a verdict
        traceback.print_exc()
        return None
    return code if code in drawn.codes else None


def ask_host(host: Any, question: bytes) -> bytes | None:
    """The host's answer as float64 bytes; None if it raises, because a learner's program may ask any numbers."""
    try:
        return bytes(np.asarray(host.answer(np.frombuffer(question, "<f8").copy()), "<f8").tobytes())
    except Exception:  # noqa: BLE001 - the program reads that there is no answer
        return None


if __name__ == "__main__":
    main(int(sys.argv[1]))
