"""Opens what a worker needs to run jobs: tested boxes, the reference process, and the hello that describes them."""

import contextlib
import importlib.util
import logging
import os
import platform
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from graders.box.card import NoCard, find_card
from graders.box.interface import BoxFault, Profile, SelfTestReport
from graders.box.profiles import probe_profile
from graders.box.self_test import run_self_test
from graders.box.slot import Slot, open_boxes
from graders.contract.events import OnEvent
from graders.contract.examination import Examination, ExerciseFault
from graders.contract.exercise_files import JUDGING_FILES, MANIFEST
from graders.contract.hello import WorkerHello, name_worker
from graders.contract.jobs import Flavour, GradeJob, Queue, RunJob
from graders.contract.limits import Limits
from graders.contract.product import VERSION
from graders.contract.results import RunEnd, Verdict
from graders.contract.settings import GraderSettings
from graders.judging.run_job import run_job
from graders.trusted.exercise import load_exercise
from graders.trusted.exercise_folders import ExerciseFolders
from graders.trusted.faults import ExerciseProblem
from graders.trusted.reference import ReferenceServer
from graders.worker.card_health import examine_card
from graders.worker.card_meter import CardMeter, watch_card
from graders.worker.code_digest import digest_code
from graders.worker.runner import Examine, Runner

GRADERS = Path(__file__).resolve().parents[1]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class OpenWorker:
    """An opened worker: its hello, and one runner per slot, each for one job at a time."""

    hello: WorkerHello
    runners: tuple[Runner, ...]
    examine: Examine
    after_each: Callable[[], None] | None = None
    """With a card: examines it, and raises CardUnfit. Call it after each job."""


@contextlib.contextmanager
def open_worker(
    settings: GraderSettings, exercises: ExerciseFolders, queue: Queue = Queue.CPU, *, proven: bool = True
) -> Iterator[OpenWorker]:
    """Raises BoxFault if this machine cannot confine a run. Without `proven` it runs no self-test.

    The queue `gpu` needs a card: raises NoCard if there is none, and CardUnfit if it does not compute.
    """
    card = find_card(settings.card) if queue is Queue.GPU else None
    if card and settings.slots != 1:
        raise NoCard(f"a card runs one job at a time, and UNWIND_SLOTS is {settings.slots}; set UNWIND_SLOTS=1")
    flavours = tuple(Flavour) if importlib.util.find_spec("torch") else (Flavour.PLAIN,)
    with contextlib.ExitStack() as opened:
        reference = opened.enter_context(contextlib.closing(ReferenceServer()))
        boxes = open_boxes(settings.slots, flavours, choose_profile(settings), card)
        for box in boxes:
            opened.enter_context(contextlib.closing(box))
        report = _prove(boxes) if proven else None
        # In the background, and not beside the mothers' imports: a grader serves seconds earlier for it.
        reference.warm(with_torch=Flavour.TORCH in flavours)
        device = examine_card(boxes[0]).name if card else "cpu"
        hello = _say_hello(settings, queue, flavours, boxes[0], report).model_copy(update={"device": device})
        runners = tuple(_make_runner(box, exercises, reference) for box in boxes)
        if card:
            meter = CardMeter(card.bus)
            runners = tuple(watch_card(runner, meter, lambda job: _find_limits(job, exercises)) for runner in runners)
        after_each = (lambda: _look_again(boxes[0])) if card else None
        yield OpenWorker(hello, runners, lambda name: _examine(name, exercises, reference), after_each)


def choose_profile(settings: GraderSettings) -> Profile:
    """The strongest profile that works here, but no stronger than the settings allow. Raises BoxFault."""
    return probe_profile(Profile(settings.profile) if settings.profile else None)


def _prove(boxes: Sequence[Slot]) -> SelfTestReport:
    report = run_self_test(boxes)
    for boundary in report.boundaries:
        if not boundary.held:
            log.error("boundary not held: %s (%s)", boundary.name, boundary.proof)
    if not report.passed:
        raise BoxFault(f"the sandbox's self-test failed under profile {report.profile}")
    return report


def _say_hello(
    settings: GraderSettings, queue: Queue, flavours: tuple[Flavour, ...], box: Slot, report: SelfTestReport | None
) -> WorkerHello:
    boundaries = report.boundaries if report else ()
    return WorkerHello(
        worker=name_worker(socket.gethostname(), os.getpid()),
        queue=queue,
        slots=settings.slots,
        flavours=flavours,
        profile=box.profile.value,
        memory_cgroup=box.memory_cgroup,
        python=platform.python_version(),
        torch=box.torch_version,
        device="cpu",
        self_test_passed=sum(boundary.held for boundary in boundaries),
        self_test_total=len(boundaries),
        version=VERSION,
        code=digest_code(GRADERS),
    )


def _make_runner(box: Slot, exercises: ExerciseFolders, reference: ReferenceServer) -> Runner:
    def run(job: GradeJob | RunJob, on_event: OnEvent, kill: threading.Event) -> Verdict | RunEnd:
        name, digest = ("", "") if isinstance(job, RunJob) else (job.exercise, job.exercise_digest)
        return run_job(job, box, exercises.find(name, digest), reference, on_event, kill)

    return run


def _find_limits(job: GradeJob | RunJob, exercises: ExerciseFolders) -> Limits:
    if isinstance(job, RunJob):
        return job.limits
    return load_exercise(exercises.find(job.exercise, job.exercise_digest), job.exercise).manifest.limits


def _look_again(box: Slot) -> None:
    examine_card(box)


def _examine(name: str, exercises: ExerciseFolders, reference: ReferenceServer) -> Examination:
    try:
        exercise = load_exercise(exercises.find(name, ""), name)
    except ExerciseProblem as problem:
        file = next((file for file in JUDGING_FILES if file in str(problem)), MANIFEST)
        return Examination(faults=(ExerciseFault(file=file, message=str(problem), remedy="fix the file"),))
    return reference.examine(exercise)
