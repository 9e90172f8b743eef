"""How many submissions a second the queue itself carries, with graders that answer at once, on SQLite and PostgreSQL.

python bench/queue_ceiling.py [--seconds 10] [--learners 40] [--postgresql URL]

The URL is that of an empty database. Websites and graders are processes of their own, as in a fleet on one machine:
each website plays its part of the learners, who submit, wait for the verdict and submit again.
"""

import argparse
import asyncio
import itertools
import multiprocessing
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from sqlalchemy import func, select

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from submissions import find_percentile

from app.storage.database import migrate
from graders.contract.events import EventKind, OnEvent
from graders.contract.hello import WorkerHello
from graders.contract.jobs import Flavour, GradeJob, Queue, RunJob
from graders.contract.model import ExerciseName, LearnerId
from graders.contract.results import Outcome, RunEnd, Verdict
from graders.ledger import Database, Ledger, Origin, Policy, open_ledger
from graders.ledger.tables import events
from graders.worker.loop import WorkerLoop

POLICY = Policy(pending_cap=1000, address_pending_cap=100_000, wait_limit_seconds=3600.0)
KNOWN = Origin(known_seconds=600.0)
SLOTS = 4
WORKER_STOP_SECONDS = 30.0


@dataclass
class Fleet:
    url: str
    folder: Path
    learners: int
    seconds: float


def answer_at_once(job: GradeJob | RunJob, on_event: OnEvent, kill: threading.Event) -> Verdict | RunEnd:
    if isinstance(job, GradeJob):
        return Verdict(outcome=Outcome.PASSED, exercise=job.exercise)
    return RunEnd(outcome=Outcome.OK)


def run_grader(fleet: Fleet, name: str, stop: Any) -> None:
    async def work() -> None:
        ledger, stopping = open_ledger(fleet.url, fleet.folder / "wakeups", POLICY), asyncio.Event()
        hello = WorkerHello(
            worker=name, queue=Queue.CPU, slots=SLOTS, flavours=(Flavour.PLAIN,), profile="P2", memory_cgroup=False,
            python="3.11", torch="none", device="cpu", self_test_passed=1, self_test_total=1,
        )  # fmt: skip
        working = asyncio.create_task(WorkerLoop(ledger, hello, (answer_at_once,) * SLOTS).work(stopping))
        await asyncio.to_thread(stop.wait)
        stopping.set()
        await working
        await ledger.close()

    asyncio.run(work())


async def play(ledger: Ledger, learner: str, until: float, submitted: list[float]) -> None:
    for number in itertools.count():
        started = time.perf_counter()
        if started > until:
            return
        job = GradeJob(exercise=ExerciseName("double"), source="answer = 2", exercise_digest="")
        accepted = await ledger.submit(LearnerId(learner), f"{learner}-{number}", job, origin=KNOWN)
        submitted.append(1000 * (time.perf_counter() - started))
        async for event in ledger.follow(accepted.id):
            if event.kind is EventKind.FINISHED:
                break


def run_website(fleet: Fleet, name: str, results: Any) -> None:
    async def work() -> None:
        ledger, submitted = open_ledger(fleet.url, fleet.folder / "wakeups", POLICY), []
        until = time.perf_counter() + fleet.seconds
        await asyncio.gather(*(play(ledger, f"{name}-{i}", until, submitted) for i in range(fleet.learners)))
        await ledger.close()
        results.put(submitted)

    asyncio.run(work())


def read_waits(url: str) -> list[float]:
    """Milliseconds from the row to its claim, from the ledger's own events."""

    async def read() -> list[float]:
        database = Database(url)
        kinds = {kind: func.min(events.c.at).filter(events.c.kind == kind) for kind in ("queued", "started")}
        query = select(*kinds.values()).group_by(events.c.submission)
        rows = await database.read(lambda connection: connection.execute(query).all())
        await database.close()
        return [1000 * (started - queued) for queued, started in rows if started is not None]

    return asyncio.run(read())


@contextmanager
def running(graders: int, fleet: Fleet, spawn: Any) -> Iterator[None]:
    stop = spawn.Event()
    started = [spawn.Process(target=run_grader, args=(fleet, f"grader-{i}", stop)) for i in range(graders)]
    for grader in started:
        grader.start()
    yield
    stop.set()
    for grader in started:
        grader.join(WORKER_STOP_SECONDS)


def measure(name: str, fleet: Fleet, websites: int, graders: int) -> None:
    spawn = multiprocessing.get_context("spawn")
    results = spawn.Queue()
    before = len(read_waits(fleet.url))
    with running(graders, fleet, spawn):
        sites = [
            spawn.Process(target=run_website, args=(fleet, f"{time.time():.0f}-{i}", results))
            for i in range(websites)
        ]
        for site in sites:
            site.start()
        submitted = [time_ for _ in sites for time_ in results.get()]
        for site in sites:
            site.join()
    waits = read_waits(fleet.url)[before:]
    print(
        f"  {name:11} {websites} websites, {graders} graders: {len(submitted) / fleet.seconds:6.0f} submissions/s; "
        f"submit median {median(submitted):5.1f}, p95 {find_percentile(submitted, 0.95):6.1f} ms; "
        f"to the start p95 {find_percentile(waits, 0.95):6.1f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--learners", type=int, default=40, help="of each website")
    parser.add_argument("--postgresql", help="the URL of an empty database")
    chosen = parser.parse_args()
    for name, websites, graders in (("sqlite", 1, 1), ("postgresql", 1, 1), ("postgresql", 2, 2)):
        if name == "postgresql" and not chosen.postgresql:
            print(f"  {name}: not run, because --postgresql names no database")
            continue
        with tempfile.TemporaryDirectory(prefix="unwind-bench-") as folder:
            url = f"sqlite:///{folder}/unwind.sqlite3" if name == "sqlite" else chosen.postgresql
            migrate(url, Path(folder))
            measure(name, Fleet(url, Path(folder), chosen.learners, chosen.seconds), websites, graders)


if __name__ == "__main__":
    main()
