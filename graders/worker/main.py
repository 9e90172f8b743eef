"""The worker's process: opens the boxes, tests them, and serves a queue; or refuses to start and logs why."""

import asyncio
import logging
import os
import signal
import socket

from graders.box.card import NoCard
from graders.box.interface import BoxFault
from graders.contract.course_versions import list_courses
from graders.contract.hello import WorkerHello
from graders.contract.jobs import Queue
from graders.contract.log_lines import set_up_logging
from graders.contract.settings import GraderSettings
from graders.ledger import open_ledger
from graders.trusted.exercise_folders import ExerciseFolders
from graders.worker.card_health import CardUnfit
from graders.worker.loop import WorkerLoop
from graders.worker.open_worker import OpenWorker, open_worker
from graders.worker.running_job import SlotHangs

REFUSED = 2
HANGS = 3
CARD_UNFIT = 4

log = logging.getLogger(__name__)


def main(settings: GraderSettings, queue: Queue = Queue.CPU) -> int:
    """Open and test the boxes, then work until stopped.

    Returns 0; 2 if this machine cannot serve the queue; 4 if its card became unfit: a supervisor starts the grader
    again, and the card is examined anew.
    """
    set_up_logging("grader", logging.INFO, settings.log)
    try:
        with open_worker(settings, find_exercises(settings), queue) as worker:
            log.info("%s", describe(worker.hello))
            return asyncio.run(_serve_queue(settings, worker))
    except BoxFault as fault:
        log.error("this machine cannot run learners' code safely, so the grader does not start: %s", fault)
        return REFUSED
    except (NoCard, CardUnfit) as fault:
        log.error("the queue gpu is not served: %s", fault)
        return REFUSED


async def _serve_queue(settings: GraderSettings, worker: OpenWorker) -> int:
    """Work until SIGTERM or SIGINT, or until the card is unfit. Returns the exit status."""
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    ledger = open_ledger(settings.database, settings.wakeups_folder)
    return_status = 0
    try:
        exercises, after_each = find_exercises(settings), worker.after_each
        await WorkerLoop(ledger, worker.hello, worker.runners, exercises, after_each=after_each).work(stopping)
    except* CardUnfit as unfit:
        log.error("the grader ends, and takes no other job: %s", unfit.exceptions[0])
        return_status = CARD_UNFIT
    except* SlotHangs as hanging:
        log.error("the grader ends, and the next one judges what it was running: %s", hanging.exceptions[0])
        # An ordinary exit would wait for the thread that hangs. The fork servers end with their parent.
        os._exit(HANGS)
    finally:
        await ledger.close()
    return return_status


def find_exercises(settings: GraderSettings) -> ExerciseFolders:
    """Those of every version of the course that is kept."""
    return ExerciseFolders(lambda: [root / "exercises" for root in list_courses(settings.data, settings.course)])


def describe(hello: WorkerHello) -> str:
    """One line for the operator's log: how strongly this worker confines code, and what it has."""
    meter = "kernel" if hello.memory_cgroup else "none (no memory cgroup here)"
    return (
        f"isolation {hello.profile}, {hello.self_test_passed} of {hello.self_test_total} boundaries proven; "
        f"{hello.slots} runs at a time; memory meter: {meter}; torch {hello.torch or 'is not installed'}"
    )


async def was_heard_of(settings: GraderSettings) -> bool:
    """Whether a worker on this machine, or in this container, said hello lately."""
    ledger = open_ledger(settings.database, settings.wakeups_folder)
    try:
        return any(seen.hello.worker.startswith(f"{socket.gethostname()}-") for seen in await ledger.workers())
    finally:
        await ledger.close()
