"""The operator's page: which graders serve, how strongly each confines, and what waits. No learner is shown."""

from dataclasses import dataclass
from typing import ClassVar

from fastapi import APIRouter, Response

from app.web.page import Frame
from app.web.visit import VisitNow
from graders.contract.jobs import Queue
from graders.ledger import Depth
from graders.ledger.records import WorkerSeen

router = APIRouter(include_in_schema=False)

PROFILES = {
    "P1": "everything: root's namespaces, resource limits, Landlock, seccomp",
    "P2": "the same from an ordinary user, in a user namespace",
    "P3": "no namespaces here: Landlock, seccomp and resource limits",
}


@dataclass(frozen=True)
class GraderRow:
    """One grader. `boundaries` counts those that its self-test proved, e.g. "58 of 58"."""

    name: str
    profile: str
    profile_words: str
    boundaries: str
    slots: int
    memory: str
    runs_on: str


@dataclass(frozen=True)
class QueueRow:
    name: str
    waiting: int
    running: int


@dataclass(frozen=True)
class OperationPage:
    template: ClassVar[str] = "operation.html"
    frame: Frame
    graders: tuple[GraderRow, ...]
    queues: tuple[QueueRow, ...]


@router.api_route("/operator", methods=["GET", "HEAD"])
async def operator_page(visit: VisitNow) -> Response:
    ledger = visit.site.ledger
    graders = tuple(show_grader(seen) for seen in await ledger.workers())
    queues = tuple([show_queue(queue, await ledger.depth(queue)) for queue in Queue])
    frame = await visit.frame("For the operator", "Which graders serve, how strongly they confine, and what waits.")
    return visit.site.renderer.page(OperationPage(frame, graders, queues))


def show_grader(seen: WorkerSeen) -> GraderRow:
    hello = seen.hello
    return GraderRow(
        name=hello.worker,
        profile=hello.profile,
        profile_words=PROFILES[hello.profile],
        boundaries=f"{hello.self_test_passed} of {hello.self_test_total}",
        slots=hello.slots,
        memory="counted and capped by the kernel"
        if hello.memory_cgroup
        else "capped for each process; no peak is shown",
        runs_on=f"Python {hello.python}, "
        + (f"torch {hello.torch}" if hello.torch else "no torch")
        + f", {hello.device}",
    )


def show_queue(queue: Queue, depth: Depth) -> QueueRow:
    return QueueRow(queue.value, depth.queued, depth.running)
