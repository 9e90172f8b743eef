"""A ledger with real worker processes that tests may kill, freeze and thaw."""

import asyncio
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from fake_worker import POLICY

from graders.contract.events import EventKind
from graders.contract.jobs import RunJob
from graders.contract.model import LearnerId, SubmissionId
from graders.ledger import Ledger, Origin, State, Submission, open_ledger

ROOT = Path(__file__).resolve().parents[2]
FAKE_WORKER = Path(__file__).with_name("fake_worker.py")

KNOWN = Origin(known_seconds=600.0)
"""A learner who has been here for a while: no slot is kept from them."""


class DeafListener:
    async def wait(self, timeout_seconds: float) -> bool:
        await asyncio.sleep(timeout_seconds)
        return False

    def close(self) -> None:
        """Nothing is held."""


class LostWakeups:
    """None arrives, neither what this process sends nor what others send to it."""

    def listen(self, topic: str) -> DeafListener:
        return DeafListener()

    def wake(self, topic: str) -> None:
        """Lost."""

    async def close(self) -> None:
        """Nothing is held."""


@dataclass
class Workers:
    """The workers that a test has started on a database; the data folder holds what wakes them on SQLite."""

    data: Path
    url: str
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start_worker(self, name: str, fault: str = "") -> subprocess.Popen[bytes]:
        command = [sys.executable, str(FAKE_WORKER), str(self.data), self.url, name, fault]
        worker = subprocess.Popen(command, cwd=ROOT, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"})
        self.started.append(worker)
        return worker

    def end_workers(self) -> None:
        for worker in self.started:
            if worker.poll() is None:
                worker.send_signal(signal.SIGCONT)
                worker.kill()
            worker.wait()


@dataclass
class Stage:
    """A ledger, and workers on its files."""

    workers: Workers
    ledger: Ledger

    def start_worker(self, name: str, fault: str = "") -> subprocess.Popen[bytes]:
        return self.workers.start_worker(name, fault)

    async def submit(self, source: str, learner: str = "ann", key: str = "t") -> SubmissionId:
        return (await self.ledger.submit(LearnerId(learner), key, RunJob(source=source), origin=KNOWN)).id

    async def wait_until_started(self, submission: SubmissionId) -> None:
        async with asyncio.timeout(20):
            async for event in self.ledger.follow(submission):
                if event.kind is EventKind.STARTED:
                    return

    async def expect_one_verdict(self, submission: SubmissionId, within_seconds: float = 20) -> Submission:
        """The promise itself: what was accepted ends, once, in the row and in the events alike."""
        async with asyncio.timeout(within_seconds):
            kinds = [event.kind async for event in self.ledger.follow(submission)]
        assert kinds[-1] is EventKind.FINISHED
        events = await self.ledger.events_after(submission, 0)
        assert [event.kind for event in events].count(EventKind.FINISHED) == 1
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        found = await self.ledger.find(submission)
        assert found is not None
        assert found.state is State.FINISHED
        assert found.result is not None
        return found


def open_stage(data: Path, url: str) -> Stage:
    return Stage(Workers(data, url), open_ledger(url, data / "doorbell", POLICY))
