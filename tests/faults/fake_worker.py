"""A worker in its own process, real but for the box: the job's source says what the fake run does.

Usage: fake_worker.py DATA URL NAME [fault]. `sleep 0.3` sleeps, `count 9 0.1` prints so many numbers with a pause
after each, `die` kills the process, `hang` never ends, whoever tells it to; anything else ends at once. The fault
`before-commit` or `after-commit` kills the process at the transaction that writes a verdict; `clock+60` has its clock
go wrong by so many seconds.
"""

import asyncio
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from sqlalchemy import event

from graders.contract.events import EventKind, OnEvent, Output
from graders.contract.hello import WorkerHello
from graders.contract.jobs import Flavour, GradeJob, Queue, RunJob
from graders.contract.results import Outcome, RunEnd, Verdict
from graders.ledger import Ledger, Policy, open_ledger
from graders.worker.loop import WorkerLoop
from graders.worker.running_job import Patience, SlotHangs

PATIENCE = Patience(run_seconds=8.0, kill_seconds=0.5)
HANGS = 3
POLICY = Policy(lease_seconds=1.0, pending_cap=1000, wait_limit_seconds=3600.0, dispatch_poll_seconds=0.2)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def run_fake(name: str, job: GradeJob | RunJob, on_event: OnEvent, kill: threading.Event) -> Verdict | RunEnd:
    act, *numbers = job.source.split() or [""]
    match act:
        case "die":
            die()
        case "hang":
            threading.Event().wait()
        case "sleep":
            time.sleep(float(numbers[0]))
        case "count":
            for number in range(int(numbers[0])):
                on_event(EventKind.OUTPUT, Output(stream="stdout", text=f"{number} "))
                time.sleep(float(numbers[1]))
    if isinstance(job, GradeJob):
        return Verdict(outcome=Outcome.PASSED, exercise=job.exercise, stdout=name)
    return RunEnd(outcome=Outcome.OK, stdout=name)


def skew_clock(seconds: float) -> None:
    """As on a machine whose clock was set wrong; what measures durations is not touched."""
    real = time.time
    time.time = lambda: real() + seconds


def set_fail_point(ledger: Ledger, fail_point: str) -> None:
    engine = ledger.database.writer
    writes_verdict = False

    def has_finished(parameters: Any) -> bool:
        return "finished" in (parameters.values() if isinstance(parameters, dict) else parameters)

    @event.listens_for(engine, "before_cursor_execute")
    def notice(connection: Any, cursor: Any, statement: str, parameters: Any, context: Any, many: bool) -> None:
        nonlocal writes_verdict
        writes_verdict = writes_verdict or ("INSERT INTO events" in statement and has_finished(parameters))

    @event.listens_for(engine, "commit")
    def before_commit(connection: Any) -> None:
        if writes_verdict and fail_point == "before-commit":
            die()

    @event.listens_for(engine, "checkin")
    def after_commit(connection: Any, record: Any) -> None:
        if writes_verdict and fail_point == "after-commit":
            die()


async def work(data: Path, url: str, name: str, fault: str) -> None:
    ledger = open_ledger(url, data / "doorbell", POLICY)
    if fault.startswith("clock"):
        skew_clock(float(fault.removeprefix("clock")))
    set_fail_point(ledger, fault)
    hello = WorkerHello(
        worker=name,
        queue=Queue.CPU,
        slots=2,
        flavours=(Flavour.PLAIN,),
        profile="P2",
        memory_cgroup=False,
        python="3.11",
        torch="none",
        device="cpu",
        self_test_passed=1,
        self_test_total=1,
    )
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)

    def runner(job: Any, on_event: OnEvent, kill: threading.Event) -> Verdict | RunEnd:
        return run_fake(name, job, on_event, kill)

    try:
        await WorkerLoop(ledger, hello, (runner, runner), reconcile_seconds=0.3, patience=PATIENCE).work(stopping)
    except* SlotHangs:
        os._exit(HANGS)
    await ledger.close()


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4] if len(sys.argv) > 4 else ""))
