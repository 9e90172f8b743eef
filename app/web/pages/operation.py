"""The operator's page: which graders run, in which versions, how strongly they confine, what waits. No learner."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from fastapi import APIRouter, Response

from app.course.model import Course
from app.web.edge.exercise_digest import read_digest
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContextDep
from app.web.views.version_skew import (
    UNKNOWN,
    ExerciseRow,
    WaitingRow,
    compare_exercises,
    compare_programs,
    show_waiting,
)
from graders.contract.jobs import Queue
from graders.contract.model import ExerciseName
from graders.contract.product import VERSION
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
    """One grader. `boundaries` counts those that its self-test proved, e.g. "58 of 58"; `exercises` names its
    exercises that differ from the website's version."""

    name: str
    queue: str
    profile: str
    profile_words: str
    boundaries: str
    slots: int
    memory: str
    runs_on: str
    version: str
    exercises: str


@dataclass(frozen=True)
class QueueRow:
    name: str
    waiting: int
    running: int


@dataclass(frozen=True)
class OperationPage:
    template: ClassVar[str] = "operation.html"
    frame: Frame
    website: str
    graders: tuple[GraderRow, ...]
    differences: tuple[str, ...]
    exercises: tuple[ExerciseRow, ...]
    waiting: tuple[WaitingRow, ...]
    queues: tuple[QueueRow, ...]


@router.api_route("/operator", methods=["GET", "HEAD"])
async def operator_page(context: RequestContextDep) -> Response:
    ledger = context.site.ledger
    digests = await asyncio.to_thread(read_digests, context.course)
    seen = await ledger.workers()
    hellos = [one.hello for one in seen]
    page = OperationPage(
        frame=await context.frame(
            "For the operator", "Which graders run, how strongly they confine, and what waits."
        ),
        website=VERSION,
        graders=tuple(show_grader(one, digests) for one in seen),
        differences=compare_programs(VERSION, hellos),
        exercises=compare_exercises(digests, hellos),
        waiting=show_waiting(await ledger.unjudged()),
        queues=tuple([show_queue(queue, await ledger.depth(queue)) for queue in Queue]),
    )
    return context.site.renderer.page(page)


def read_digests(course: Course) -> dict[ExerciseName, str]:
    return {ExerciseName(name): read_digest(exercise.folder) for name, exercise in course.exercises.items()}


def show_grader(seen: WorkerSeen, digests: Mapping[ExerciseName, str]) -> GraderRow:
    hello = seen.hello
    return GraderRow(
        name=hello.worker,
        queue=hello.queue.value,
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
        version=f"{hello.version}, code {hello.code}" if hello.version else UNKNOWN,
        exercises=compare_versions(digests, hello.exercises),
    )


def compare_versions(ours: Mapping[ExerciseName, str], theirs: Mapping[ExerciseName, str] | None) -> str:
    """How a grader's exercises differ from the website's. It does not judge those until both have the same files."""
    if theirs is None:
        return "judged in any version"
    changed = sorted(name for name in ours if name in theirs and theirs[name] != ours[name])
    missing = sorted(ours.keys() - theirs.keys())
    groups = (("another version of", changed), ("without", missing))
    return "; ".join(f"{words} {', '.join(names)}" for words, names in groups if names) or "the website's versions"


def show_queue(queue: Queue, depth: Depth) -> QueueRow:
    return QueueRow(queue.value, depth.queued, depth.running)
