"""The worker's process: opens the boxes, proves them, and serves a queue; or refuses to start, and says why."""

import asyncio
import importlib.util
import logging
import os
import platform
import signal
import socket
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from graders.box.errand import BoxFault, Profile, SelfTestReport
from graders.box.profiles import probe_profile
from graders.box.self_test import run_self_test
from graders.box.slot import Slot, open_box
from graders.charge import OnEvent, Runner, SlotHangs
from graders.contract.hello import WorkerHello
from graders.contract.jobs import Flavour, GradeJob, Queue, RunJob
from graders.contract.results import RunEnd, Verdict
from graders.ledger import open_ledger
from graders.run_job import run_job
from graders.settings import GraderSettings
from graders.shift import Shift
from graders.trusted.reference import ReferenceServer

REFUSED = 2
HANGS = 3

log = logging.getLogger(__name__)


async def _serve_queue(settings: GraderSettings, hello: WorkerHello, runners: Sequence[Runner]) -> None:
    """Work until SIGTERM or SIGINT."""
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    ledger = open_ledger(settings.database, settings.doorbells)
    try:
        await Shift(ledger, hello, runners).work(stopping)
    except* SlotHangs as hanging:
        log.error("the grader ends, and what it runs is judged by its successor: %s", hanging.exceptions[0])
        # No ordinary exit: that would wait for the thread that hangs. Fork-servers end with their parent.
        os._exit(HANGS)
    finally:
        await ledger.close()


def main(settings: GraderSettings, queue: Queue = Queue.CPU) -> int:
    """Open the boxes, prove them, and work until told to stop: 0. If this machine cannot confine: 2."""
    logging.basicConfig(level=logging.INFO, format="grader: %(message)s")
    flavours = tuple(Flavour) if importlib.util.find_spec("torch") else (Flavour.PLAIN,)
    try:
        boxes = _open_boxes(settings, flavours)
    except BoxFault as fault:
        log.error("this machine cannot run learners' code safely, and the grader does not start: %s", fault)
        return REFUSED
    reference = ReferenceServer()
    try:
        reference.warm(with_torch=Flavour.TORCH in flavours)
        report = run_self_test(boxes[0])
        if not report.passed:
            _explain_refusal(report)
            return REFUSED
        runners = [partial(_run_in, box, settings.exercises, reference) for box in boxes]
        hello = _say_who(settings, queue, flavours, boxes[0], report)
        log.info("%s", describe(hello))
        asyncio.run(_serve_queue(settings, hello, runners))
    finally:
        reference.close()
        for box in boxes:
            box.close()
    return 0


def describe(hello: WorkerHello) -> str:
    """How strongly this worker confines, for the operator's log."""
    meter = "kernel" if hello.memory_cgroup else "none (no memory cgroup here)"
    return (
        f"isolation {hello.profile}, {hello.self_test_passed} of {hello.self_test_total} boundaries proven; "
        f"{hello.slots} runs at a time; memory meter: {meter}; torch {hello.torch or 'is not installed'}"
    )


async def was_heard_of(settings: GraderSettings) -> bool:
    """Whether a worker of this machine, or of this container, said hello lately."""
    ledger = open_ledger(settings.database, settings.doorbells)
    try:
        return any(seen.hello.worker.startswith(f"{socket.gethostname()}-") for seen in await ledger.workers())
    finally:
        await ledger.close()


def _open_boxes(settings: GraderSettings, flavours: tuple[Flavour, ...]) -> list[Slot]:
    """All at once: each waits for its zygote to import torch."""
    profile = probe_profile(Profile(settings.profile) if settings.profile else None)
    with ThreadPoolExecutor(settings.slots) as threads:
        opening = [threads.submit(open_box, flavours, profile=profile) for _ in range(settings.slots)]
    faults = [one.exception() for one in opening]
    boxes = [one.result() for one, fault in zip(opening, faults, strict=True) if fault is None]
    for fault in faults:
        if fault is not None:
            for box in boxes:
                box.close()
            raise fault
    return boxes


def _explain_refusal(report: SelfTestReport) -> None:
    for boundary in report.boundaries:
        if not boundary.held:
            log.error("boundary not held: %s (%s)", boundary.name, boundary.proof)
    log.error("the sandbox's self-test failed under profile %s, and the grader does not start", report.profile)


def _say_who(
    settings: GraderSettings, queue: Queue, flavours: tuple[Flavour, ...], box: Slot, report: SelfTestReport
) -> WorkerHello:
    return WorkerHello(
        worker=f"{socket.gethostname()}-{os.getpid()}",
        queue=queue,
        slots=settings.slots,
        flavours=flavours,
        profile=report.profile.value,
        memory_cgroup=box.memory_cgroup,
        python=platform.python_version(),
        torch=box.torch_version,
        device="cpu",
        self_test_passed=sum(boundary.held for boundary in report.boundaries),
        self_test_total=len(report.boundaries),
    )


def _run_in(
    box: Slot,
    exercises: Path,
    reference: ReferenceServer,
    job: GradeJob | RunJob,
    on_event: OnEvent,
    kill: threading.Event,
) -> Verdict | RunEnd:
    return run_job(job, box, exercises, reference, on_event, kill)
