"""A worker's shift, from its hello to its goodbye: claims submissions and runs each in a free slot."""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from graders.charge import Charge, OnEvent, Patience, Runner
from graders.contract.hello import WorkerHello
from graders.contract.jobs import GradeJob, RunJob
from graders.contract.model import SubmissionId
from graders.contract.results import Outcome, RunEnd, Verdict
from graders.ledger import Ledger, StorageRefused
from graders.ledger.ending import make_end

TIDY_SECONDS = 5.0
GRACE_SECONDS = 2.0
CANCEL_POLL_SECONDS = 1.0
RETRY_SECONDS = 0.5

log = logging.getLogger(__name__)


class Shift:
    """Serves one queue until it is told to stop; then lets runs end for a moment, and hands back the rest."""

    def __init__(
        self,
        ledger: Ledger,
        hello: WorkerHello,
        runners: Sequence[Runner],
        tidy_seconds: float = TIDY_SECONDS,
        patience: Patience = Patience(),
    ) -> None:
        self._ledger = ledger
        self._hello = hello
        self._tidy_seconds = tidy_seconds
        self._patience = patience
        self._free = deque(runners)
        self._charges: set[Charge] = set()
        self._threads = ThreadPoolExecutor(len(runners), thread_name_prefix="slot")

    async def work(self, stopping: asyncio.Event) -> None:
        """Raises SlotHangs, in a group, when a run cannot be ended: then this process must end at once."""
        await self._tidy()
        try:
            async with asyncio.TaskGroup() as group:
                loops = [
                    group.create_task(self._keep_tidying()),
                    group.create_task(self._watch_cancels()),
                    group.create_task(self._give_back_after(stopping)),
                ]
                slots = self._hello.slots
                await self._ledger.dispatcher.worker(self._hello.queue, slots, self._handle, stopping)
                for loop in loops:
                    loop.cancel()
        finally:
            for charge in self._charges:
                charge.give_back()
            self._threads.shutdown(wait=False)
        await self._say_goodbye()

    async def _handle(self, submission: SubmissionId) -> None:
        try:
            claim = await self._ledger.claim(submission, self._hello.worker)
        except StorageRefused as error:
            log.error("%s: cannot be claimed: %s", submission, error)
            await asyncio.sleep(RETRY_SECONDS)
            return
        if claim is None:
            return
        charge = Charge(self._ledger, claim)
        runner = self._free.popleft()
        self._charges.add(charge)
        try:
            await charge.run(_guard(runner), self._threads, self._patience)
        finally:
            self._charges.discard(charge)
            self._free.append(runner)

    async def _keep_tidying(self) -> None:
        while True:
            await asyncio.sleep(self._tidy_seconds)
            await self._tidy()

    async def _tidy(self) -> None:
        try:
            await self._ledger.say_hello(self._hello)
            tidied = await self._ledger.reconcile()
        except StorageRefused as error:
            log.error("cannot reconcile: %s", error)
            return
        if tidied.requeued or tidied.faulted:
            log.warning("workers died: %d runs queued again, %d given up", tidied.requeued, tidied.faulted)

    async def _watch_cancels(self) -> None:
        with self._ledger.listen_for_cancels() as bell:
            while True:
                await bell.wait(CANCEL_POLL_SECONDS)
                if self._charges:
                    await self._drop_lost()

    async def _drop_lost(self) -> None:
        charges = {charge.claim: charge for charge in self._charges}
        for claim in await self._ledger.find_lost(tuple(charges)):
            charges[claim].lose()

    async def _give_back_after(self, stopping: asyncio.Event) -> None:
        await stopping.wait()
        await asyncio.sleep(GRACE_SECONDS)
        for charge in self._charges:
            charge.give_back()

    async def _say_goodbye(self) -> None:
        try:
            await self._ledger.say_goodbye(self._hello.worker)
        except StorageRefused as error:
            log.error("cannot say goodbye: %s", error)


def _guard(runner: Runner) -> Runner:
    """A runner that raises is our fault: the learner gets a verdict that says so, and the worker lives on."""

    def run(job: GradeJob | RunJob, on_event: OnEvent, kill: threading.Event) -> Verdict | RunEnd:
        try:
            return runner(job, on_event, kill)
        except Exception:
            log.exception("the runner raised")
            return make_end(job, Outcome.GRADER_FAULT)

    return run
