"""A box of scripted bytes, answers as an honest learner's process would send them, and one call that judges both."""

import json
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from graders.box.interface import BoxClosed, BoxFault, BoxRequest, Cause, Exit, Profile
from graders.contract.jobs import Diagnosed, GradeJob, RunJob
from graders.contract.results import RunEnd, Verdict
from graders.judging.run_job import run_job

FIXTURES = Path(__file__).resolve().parent / "fixtures"
HEAD = struct.Struct("<4sIII")
EXITED = Exit(Cause.EXITED, 0, None, 0.01, 0.02, 3 << 20)
STOPPED = Exit(Cause.STOPPED, None, None, 0.01, 0.02, 3 << 20)

Respond = Callable[[int, dict], bytes]


def frame(kind: bytes, case: int, header: bytes, body: bytes) -> bytes:
    return HEAD.pack(kind, case, len(header), len(body)) + header + body


def failure(case: int, **told: object) -> bytes:
    return frame(b"FAIL", case, b"", json.dumps(told).encode())


def scaled_answer(case: int, numbers: list[float]) -> bytes:
    layout = [["scaled", "list[float]", [len(numbers)]], ["total", "float", []]]
    header = json.dumps(layout, separators=(",", ":")).encode()
    return frame(b"ANSW", case, header, struct.pack(f"<{len(numbers) + 1}d", *numbers, sum(numbers)))


def answer_rightly(case: int, inputs: dict) -> bytes:
    return scaled_answer(case, [number * inputs["factor"] for number in inputs["numbers"]])


@dataclass
class ScriptedRun:
    """A run whose child answers each case with what `respond` says, and then ends as `ending`."""

    request: BoxRequest
    respond: Respond
    ending: Exit
    report: bytes = b""
    cases: list[dict] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    _pending: bytes = b""
    _cause: Cause | None = None

    def send(self, data: bytes) -> None:
        kind, case, header_length, _ = HEAD.unpack(data[: HEAD.size])
        assert kind == b"CASE"
        inputs = json.loads(data[HEAD.size : HEAD.size + header_length])["plain"]
        self.cases.append(inputs)
        self.log.append(f"case {case}")
        self._pending += self.respond(case, inputs)

    def receive(self, count: int) -> bytes:
        if len(self._pending) < count:
            raise BoxClosed("the script ends here")
        piece, self._pending = self._pending[:count], self._pending[count:]
        self.log.append("answer")
        return piece

    def receive_at_most(self, count: int) -> bytes:
        return self.report[:count]

    def wait(self) -> Exit:
        return self.ending

    def stop(self, cause: Cause = Cause.STOPPED) -> Exit:
        self._cause = self._cause or cause
        return STOPPED


@dataclass
class ScriptedBox:
    """Box at the wall: no process, scripted bytes."""

    respond: Respond = answer_rightly
    ending: Exit = EXITED
    report: bytes = b""
    output: tuple[tuple[str, bytes], ...] = ()
    broken: bool = False
    profile: Profile = Profile.P1
    has_card: bool = False
    runs: list[ScriptedRun] = field(default_factory=list)

    def start(self, request: BoxRequest) -> ScriptedRun:
        if self.broken:
            raise BoxFault("the zygote does not answer")
        for stream, piece in self.output:
            assert request.on_output is not None
            request.on_output(stream, piece)
        self.runs.append(ScriptedRun(request, self.respond, self.ending, self.report))
        return self.runs[-1]

    def close(self) -> None:
        self.runs.clear()


JOB = GradeJob(exercise="scaling", source="irrelevant: the box is scripted")


def judge(box, reference, job=JOB, events=None, cancelled=None, root=FIXTURES) -> Verdict:
    heard = events if events is not None else []
    verdict = run_job(job, box, root, reference, lambda *event: heard.append(event), cancelled or threading.Event())
    assert isinstance(verdict, Verdict)
    return verdict


def run_cell(box, reference, events=None, **asked) -> RunEnd:
    heard = events if events is not None else []
    job = RunJob(source="print(1)", **asked)
    end = run_job(job, box, FIXTURES, reference, lambda *event: heard.append(event), threading.Event())
    assert isinstance(end, RunEnd)
    return end


HUNT = "half-an-hour"


def end_meeting(case, inputs):
    header = b'[["end","int",[]]]'
    return frame(b"ANSW", case, header, struct.pack("<q", inputs["start"] + 60 * inputs["hours"]))


def end_too_early(case, inputs):
    header = b'[["end","int",[]]]'
    return frame(b"ANSW", case, header, struct.pack("<q", inputs["start"] + inputs["hours"]))


def hunt(reference, *, respond=end_meeting, public_only=False, **said) -> Verdict:
    diagnosed = Diagnosed(**said) if said else None
    job = GradeJob(exercise=HUNT, source="", diagnosed=diagnosed, public_only=public_only)
    return judge(ScriptedBox(respond), reference, job)
