"""A worker in a process of its own, real but for the box: the job's source says what the fake run does.

Usage: fake_worker.py DATA NAME [fail point]. `sleep 0.3` sleeps, `die` kills the process, anything else ends at once.
A fail point kills the process just before, or just after, the transaction that writes a verdict is committed.
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

from graders.charge import OnEvent
from graders.contract.hello import WorkerHello
from graders.contract.jobs import Flavour, Queue, RunJob
from graders.contract.results import Outcome, RunEnd
from graders.ledger import Ledger, Policy, open_ledger
from graders.shift import Shift

POLICY = Policy(lease_seconds=1.0, pending_cap=1000, dispatch_poll_seconds=0.2)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def run_fake(name: str, job: RunJob, on_event: OnEvent, kill: threading.Event) -> RunEnd:
    if job.source == "die":
        die()
    if job.source.startswith("sleep"):
        time.sleep(float(job.source.split()[1]))
    return RunEnd(outcome=Outcome.OK, stdout=name)


def set_fail_point(ledger: Ledger, fail_point: str) -> None:
    engine = ledger.database.writer
    writes_verdict = False

    @event.listens_for(engine, "before_cursor_execute")
    def notice(connection: Any, cursor: Any, statement: str, parameters: Any, context: Any, many: bool) -> None:
        nonlocal writes_verdict
        writes_verdict = writes_verdict or ("INSERT INTO events" in statement and "finished" in parameters)

    @event.listens_for(engine, "commit")
    def before_commit(connection: Any) -> None:
        if writes_verdict and fail_point == "before-commit":
            die()

    @event.listens_for(engine, "checkin")
    def after_commit(connection: Any, record: Any) -> None:
        if writes_verdict and fail_point == "after-commit":
            die()


async def work(data: Path, name: str, fail_point: str) -> None:
    ledger = open_ledger(f"sqlite:///{data}/ledger.sqlite3", data / "doorbell", POLICY)
    set_fail_point(ledger, fail_point)
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

    def runner(job: Any, on_event: OnEvent, kill: threading.Event) -> RunEnd:
        return run_fake(name, job, on_event, kill)

    await Shift(ledger, hello, (runner, runner), tidy_seconds=0.3).work(stopping)
    await ledger.close()


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1]), sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else ""))
