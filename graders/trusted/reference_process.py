"""The reference process: a trusted fork server that draws cases and runs the probe on the solution, outside the box.

Each submission gets its own fork, so exercises' code cannot mix. It never sees a learner's code, only the values of a
wrong answer that it is asked to diagnose. No other thread may exist before a fork, because torch's threads would not
survive it.
"""

import contextlib
import copy
import importlib
import json
import os
import random
import resource
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.random

from graders import prepare_for_fork
from graders.contract.manifest import Judge
from graders.trusted.case import HOST, split_cases
from graders.trusted.compare import is_finite
from graders.trusted.exercise import read_file
from graders.trusted.faults import ExerciseProblem
from graders.trusted.session import SessionEnded, receive_message, send_message
from graders.trusted.wire import Answer, Frame, decode_answer, encode_answer, encode_case, read_layout

MAX_SECONDS = 30
MAX_MEMORY_BYTES = 4 << 30
MAX_ORDER_LENGTH = 64 * 1024
TORCH_MODULES = ("torch", "torch._dynamo", "torch.utils.checkpoint", "torch.func")
"""torch, and modules that it imports on first use: they would cost each child's first optimizer 1.5 s of CPU time."""


def main(descriptor: int) -> None:
    """Serve until the judge closes its end.

    An order is JSON {exercise, seed, torch, findings, judge} and a descriptor to answer on. With an empty exercise it
    only asks the process to import what is needed.
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
        signal.alarm(2 * MAX_SECONDS)
        # The solution of a program to be fixed may print, and that output is not wanted here.
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
            serve_session(channel, order)
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
        draw = DrawRequest(int(order["seed"], 16), frozenset(order["findings"]), Judge(order["judge"]))
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


def diagnose(drawn: "DrawnCases", question: dict[str, Any], body: bytes) -> str | None:
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


def open_host(folder: Path, hidden: Any) -> Any:
    """A new host of a case: the part that a learner's program may ask but not read."""
    return run_file(folder, "host.py").Host(copy.deepcopy(hidden))


def ask_freely(host: Any) -> Callable[[Sequence[float]], list[float]]:
    """The `ask` function that the solution gets; a learner's program asks through the judge instead."""
    return lambda numbers: list(np.asarray(host.answer(np.array(numbers, np.float64)), np.float64).tolist())


def ask_host(host: Any, question: bytes) -> bytes | None:
    """The host's answer as float64 bytes; None if it raises, because a learner's program may ask any numbers."""
    try:
        return bytes(np.asarray(host.answer(np.frombuffer(question, "<f8").copy()), "<f8").tobytes())
    except Exception:  # noqa: BLE001 - the program is told that there is no answer
        return None


class DrawnCases:
    """The cases of one run, as this process keeps them for later questions."""

    def __init__(self, codes: frozenset[str], diagnose: Any) -> None:
        self.codes = codes
        self.diagnose = diagnose
        self.inputs: list[dict[str, Any]] = []
        self.expected: list[Answer] = []


@dataclass(frozen=True)
class DrawRequest:
    """What the cases of one run are drawn from, and what they are checked against."""

    seed: int
    findings: frozenset[str]
    judge: Judge


def prepare_cases(folder: Path, draw: DrawRequest) -> tuple[DrawnCases, list[dict[str, Any]], bytes]:
    """(the cases, their facts and sizes, and all frames joined): per case the question and the expected answer."""
    cases_module = run_file(folder, "cases.py")
    solve = answer_nothing if draw.judge is Judge.MACHINE else load_solution(folder)
    drawn = DrawnCases(draw.findings, getattr(cases_module, "diagnose", None))
    facts, raw = [], []
    told = cases_module.draw_cases(random.Random(draw.seed))
    for place, (case, inputs) in enumerate(split_cases(told, draw.findings, draw.judge)):
        question = encode_case(inputs if case.machine is None else {**inputs, "machine": case.machine.model_dump()})
        # A copy, because a solution that trains in place would give `diagnose` other inputs than the learner had.
        hosting = {HOST: told[place][HOST]} if case.hosted else {}
        asking = {"ask": ask_freely(open_host(folder, hosting[HOST]))} if case.hosted else {}
        expected = (answer_nothing if case.machine else solve)(copy.deepcopy(dict(inputs)) | asking)
        values = decode_answer(read_layout(expected.header), expected.body)
        if not is_finite(values):
            raise ExerciseProblem(f"solution.py answers case {case.name!r} with NaN or infinity; draw other inputs")
        drawn.inputs.append(dict(inputs) | hosting)
        drawn.expected.append(values)
        frames: tuple[Frame, Frame] = (question, expected)
        facts.append({"facts": case.model_dump(), "sizes": [[len(f.header), len(f.body)] for f in frames]})
        raw += [part for f in frames for part in (f.header, f.body)]
    return drawn, facts, b"".join(raw)


def answer_nothing(inputs: dict[str, Any]) -> Frame:
    """An empty expected answer: the judge itself computes a machine's gradient."""
    return encode_answer({})


def load_solution(folder: Path) -> Callable[[dict[str, Any]], Frame]:
    probe, solution = (run_file(folder, name) for name in ("probe.py", "solution.py"))
    prepare = getattr(probe, "prepare", dict)
    return lambda inputs: encode_answer(probe.probe(solution, prepare(inputs)))


def run_file(folder: Path, name: str) -> Any:
    path = folder / name
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules[path.stem] = module
    exec(compile(read_file(folder, name), str(path), "exec", dont_inherit=True), module.__dict__)
    return module


def describe_fault(folder: Path, error: Exception) -> str:
    if isinstance(error, ExerciseProblem):
        return f"{folder.name}: {error}"
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{folder.name}: {type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno})"


if __name__ == "__main__":
    main(int(sys.argv[1]))
