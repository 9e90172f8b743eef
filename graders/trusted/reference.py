"""The judge's side of the reference process: starts it and asks it for cases; its failures become GraderFault."""

import json
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from graders.contract.examination import Examination, ExerciseFault
from graders.contract.exercise_files import CASES
from graders.contract.jobs import Flavour
from graders.contract.manifest import Inputs
from graders.contract.model import ExerciseName
from graders.contract.results import Mistake
from graders.trusted.case import CaseFacts
from graders.trusted.exercise import Exercise
from graders.trusted.faults import CheckStumbled, GraderFault
from graders.trusted.session import MAX_SECONDS, SessionEnded, receive_message, send_message
from graders.trusted.wire import Frame

WALL_SECONDS = 30.0
END_REMEDY = "look for an endless loop, for `sys.exit` or `os._exit`, or make it faster"
TORCH_IMPORT_SECONDS = 120.0
DEATH_SECONDS = 0.2
PACKAGE_ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class PreparedCase:
    """A case, the frame to send to the box, and the frame expected back: header exact, values within tolerance.

    `untouched`: before its answer, the inputs come back, and must be the bytes that went in.
    """

    facts: CaseFacts
    question: Frame
    expected: Frame
    untouched: bool = False


class ReferenceRun:
    """The cases of one submission, and the channel to the process that can recognise mistakes in wrong answers."""

    def __init__(self, exercise: ExerciseName, channel: socket.socket, cases: tuple[PreparedCase, ...]) -> None:
        self._exercise = exercise
        self._channel = channel
        self.cases = cases

    def diagnose(self, case: int, got: Frame) -> str | None:
        """The code of the misconception that the exercise's own `diagnose` recognises in this answer, if any."""
        try:
            reply, _ = self._exchange({"case": case, "layout": got.header.decode()}, got.body)
        except SessionEnded:
            return None
        return str(reply["code"]) if reply["code"] else None

    def ask_host(self, case: int, question: bytes) -> bytes | None:
        """The host's answer to `question`, or None; both are little-endian float64. Raises CheckStumbled."""
        try:
            reply, told = self._exchange({"ask": case}, question)
        except SessionEnded as error:
            silence = Mistake(type="NoAnswer", message=f"the host gave none to a question of your code: {error}")
            where = f"host.py, in case {self.cases[case].facts.name!r}"
            raise CheckStumbled(self._exercise, where, silence) from error
        return told if reply["told"] else None

    def _exchange(self, facts: dict[str, object], raw: bytes) -> tuple[dict[str, Any], bytes]:
        """Raises SessionEnded, then and ever after: a late answer must not be taken for that to the next question."""
        try:
            send_message(self._channel, facts, raw)
            reply: tuple[dict[str, Any], bytes] = receive_message(self._channel)
        except SessionEnded:
            self._channel.close()
            raise
        return reply

    def close(self) -> None:
        self._channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()


class ReferenceServer:
    """One process for all slots of a worker, restarted if it has died. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._warm = False

    def warm(self, *, with_torch: bool) -> None:
        """Start the process now, and let it import torch if wanted, so that the first submission need not wait."""
        ours, theirs = socket.socketpair()
        with ours, theirs:
            self._send(json.dumps({"exercise": "", "torch": with_torch}).encode(), theirs)

    def prepare(self, exercise: Exercise, seed: int, *, may_retry: bool = True) -> ReferenceRun:
        """Draw cases from `seed` and answer them with the solution. Raises GraderFault.

        `may_retry`: ask once more if the whole process has died, and not only its fork for this exercise.
        """
        wants_torch = exercise.manifest.flavour is Flavour.TORCH
        order = _write_order(exercise, f"{seed:x}")
        ours = self._ask(order, WALL_SECONDS if self._warm or not wants_torch else TORCH_IMPORT_SECONDS)
        try:
            facts, raw = receive_message(ours)
        except SessionEnded as error:
            ours.close()
            if may_retry and self._has_died():
                return self.prepare(exercise, seed, may_retry=False)
            raise GraderFault(f"{exercise.name}: the reference process gave no cases: {error}") from error
        if "fault" in facts:
            ours.close()
            raise GraderFault(facts["fault"])
        self._warm = self._warm or wants_torch
        ours.settimeout(WALL_SECONDS)
        return ReferenceRun(exercise.name, ours, tuple(_read_cases(facts["cases"], raw, exercise.manifest.inputs)))

    def examine(self, exercise: Exercise) -> Examination:
        """What its author did wrong in its programs, drawn from many seeds. Raises GraderFault."""
        with self._ask(_write_order(exercise, ""), TORCH_IMPORT_SECONDS) as ours:
            at = CASES
            try:
                while "at" in (told := receive_message(ours)[0]):
                    at = told["at"]
            except SessionEnded:
                if self._has_died():
                    raise GraderFault(f"{exercise.name}: the reference process died") from None
                message = (
                    f"{at} ended the process in which it ran, or took more than {MAX_SECONDS} s of processor time"
                )
                return Examination(faults=(ExerciseFault(file=at, message=message, remedy=END_REMEDY),))
        return Examination.model_validate(told)

    @property
    def process_id(self) -> int | None:
        return self._process.pid if self._process is not None else None

    def close(self) -> None:
        with self._lock:
            self._stop()

    def _ask(self, order: bytes, wall_seconds: float) -> socket.socket:
        """Open a session; returns our end of its socket."""
        ours, theirs = socket.socketpair()
        ours.settimeout(wall_seconds)
        with theirs:
            self._send(order, theirs)
        return ours

    def _has_died(self) -> bool:
        """Whether the process is dead. Waits a moment, because a killed process is reaped after its sockets close."""
        process = self._process
        try:
            return process is None or process.wait(timeout=DEATH_SECONDS) is not None
        except subprocess.TimeoutExpired:
            return False

    def _send(self, order: bytes, channel: socket.socket) -> None:
        with self._lock:
            for attempt in (1, 2):
                if self._process is None or self._process.poll() is not None:
                    self._start()
                assert self._control is not None
                try:
                    socket.send_fds(self._control, [order], [channel.fileno()])
                except OSError as error:
                    self._stop()
                    if attempt == 2:
                        raise GraderFault(f"the reference process cannot be reached: {error}") from error
                else:
                    return

    def _start(self) -> None:
        self._stop()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "graders.trusted.reference_process", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env=_environment(),
            )
        self._control = ours
        self._warm = False

    def _stop(self) -> None:
        """Close its control socket, which ends it, and kill it if it is still alive two seconds later."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            try:
                self._process.wait(timeout=2)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None


def _write_order(exercise: Exercise, seed: str) -> bytes:
    """`seed` in hexadecimal digits; empty to have the exercise examined."""
    manifest = exercise.manifest
    order = {
        "exercise": str(exercise.path.absolute()),
        "seed": seed,
        "torch": manifest.flavour is Flavour.TORCH,
        "findings": tuple(manifest.findings),
        "judge": manifest.judge.value,
        "inputs": manifest.inputs.value,
        "tolerance": manifest.tolerance.model_dump(),
    }
    return json.dumps(order).encode()


def _environment() -> dict[str, str]:
    """Nothing from the worker's environment: no database address, no secret. One thread, so that it can fork."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(PACKAGE_ROOT),
        "PYTHONHASHSEED": "0",
        **threads,
    }


def _read_cases(cases: list[dict[str, object]], raw: bytes, inputs: Inputs) -> list[PreparedCase]:
    prepared = []
    start = 0
    for case in cases:
        frames = []
        for header_length, body_length in case["sizes"]:  # type: ignore[attr-defined]
            middle, end = start + header_length, start + header_length + body_length
            frames.append(Frame(raw[start:middle], raw[middle:end]))
            start = end
        known = CaseFacts.model_validate(case["facts"])
        # Sending inputs back would add to a peak, and a machine's inputs are the judge's own.
        untouched = inputs is Inputs.UNTOUCHED and known.peak is None and known.machine is None
        prepared.append(PreparedCase(known, frames[0], frames[1], untouched))
    return prepared
