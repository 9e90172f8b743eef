"""A worker without a box, and small readers of what the site answers."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2

from graders.contract.events import EventKind
from graders.contract.hello import WorkerHello
from graders.contract.jobs import Flavour, GradeJob, Queue, RunJob
from graders.contract.results import CaseResult, Outcome, RunEnd, Verdict
from graders.contract.trace import Edges, Nodes, Trace
from graders.ledger import Ledger
from graders.ledger.queue_reader import Handle

COURSE = Path(__file__).resolve().parents[2] / "course"
FRAGMENT = {"x-unwind-fragment": "1"}

HELLO = WorkerHello(
    worker="fake-1",
    queue=Queue.CPU,
    slots=1,
    flavours=(Flavour.PLAIN, Flavour.TORCH),
    profile="P2",
    memory_cgroup=False,
    python="3.11.7",
    torch="2.13.0",
    device="cpu",
    self_test_passed=12,
    self_test_total=12,
)

SMALL_TRACE = Trace(
    torch="2.13.0",
    nodes=Nodes(
        name=("MulBackward0", "AccumulateGrad"),
        forward=("mul", ""),
        kind=("op", "leaf"),
        module=("", ""),
        span=((1, 4, 1, 9), None),
        shape=((), ()),
        dtype=("float32", "float32"),
        variable=("y", "x"),
        values=("4.0", "2.0"),
        saved_bytes=(8, 0),
        leaf_bytes=(0, 0),
        saved=("self; other", ""),
        sequence=(0, -1),
        backward=(-1, -1),
        made_by=(None, None),
    ),
    edges=Edges(source=(0, 0), target=(1, 1), slot=(0, 1), output=(0, 0)),
    roots=(0,),
)


def end_well(job: GradeJob | RunJob) -> Verdict | RunEnd:
    """Everything passes and runs; a run that wants a trace has a small one."""
    if isinstance(job, GradeJob):
        return Verdict(outcome=Outcome.PASSED, exercise=job.exercise, profile="P2")
    return RunEnd(outcome=Outcome.OK, stdout="4.0\n", trace=SMALL_TRACE if job.want_trace else None, profile="P2")


class FakeWorker:
    """Claims through the real ledger. `end` decides each result; `jobs` remembers what came."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.jobs: list[GradeJob | RunJob] = []
        self.end: Callable[[GradeJob | RunJob], Verdict | RunEnd] = end_well
        self.printed = "4.0\n"
        self.cases: tuple[CaseResult, ...] = ()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        await self.ledger.say_hello(HELLO)
        stopping = asyncio.Event()
        task = asyncio.create_task(self.ledger.dispatcher.worker(Queue.CPU, 1, self._handle(), stopping))
        try:
            yield
        finally:
            stopping.set()
            self.ledger.dispatcher.wake(Queue.CPU)
            await task

    def _handle(self) -> Handle:
        async def handle(submission: Any) -> None:
            claim = await self.ledger.claim(submission, HELLO.worker)
            if claim is None:
                return
            self.jobs.append(claim.job)
            output = json.dumps({"stream": "stdout", "text": self.printed})
            cases = [(EventKind.CASE, case.model_dump_json()) for case in self.cases]
            await self.ledger.finish(claim, self.end(claim.job), [(EventKind.OUTPUT, output), *cases])

        return handle


@dataclass(frozen=True)
class StreamedEvent:
    event: str
    data: Any
    id: str = ""


def read_stream(response: httpx2.Response) -> list[StreamedEvent]:
    """The events of a finished stream, comments left out."""
    return list(_events(response.text))


def _events(text: str) -> Iterator[StreamedEvent]:
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if line and not line.startswith(":"))
        if fields:
            yield StreamedEvent(fields["event"], json.loads(fields["data"]), fields.get("id", ""))


@dataclass
class StoppedClock:
    now: datetime = field(default_factory=lambda: datetime(2026, 3, 1, 12, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.now

    def pass_days(self, days: float) -> None:
        self.now += timedelta(days=days)
