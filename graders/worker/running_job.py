"""One claimed job: runs it in a thread, keeps its lease, streams its events, and writes its end to the ledger."""

import asyncio
import logging
import threading
import time
from concurrent.futures import Executor
from contextvars import copy_context
from dataclasses import dataclass

from graders.contract.events import EventKind, Output
from graders.contract.model import Message
from graders.contract.outcome_sentences import make_end
from graders.contract.results import Outcome, RunEnd, Verdict
from graders.ledger import Claim, Ledger, StorageRefused
from graders.worker.runner import Runner

BEATS_PER_LEASE = 4
# A trivial run ends before the first flush, so its events are written in the same transaction as its verdict.
FIRST_FLUSH_SECONDS = 0.03
FLUSH_SECONDS = 0.1
RETRY_SECONDS = 0.5

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Patience:
    """How long a runner may take to return, whatever the job's limits: by itself, and after it was told to end."""

    # More than any limit allows: the first import of torch for the reference, then two tries of the longest wall
    # time, which a busy machine may triple.
    run_seconds: float = 900.0
    kill_seconds: float = 10.0


class SlotHangs(Exception):
    """A runner does not return, and its thread cannot be freed: the worker's process must end and be restarted."""


class Pending:
    """Events that wait for the next flush. Adjacent pieces of the same stream become one event."""

    def __init__(self) -> None:
        self._events: list[tuple[EventKind, Message]] = []
        self.any = asyncio.Event()

    def add(self, kind: EventKind, body: Message) -> None:
        last = self._events[-1][1] if self._events else None
        if isinstance(body, Output) and isinstance(last, Output) and last.stream == body.stream:
            self._events[-1] = (kind, Output(stream=body.stream, text=last.text + body.text))
        else:
            self._events.append((kind, body))
        self.any.set()

    def take(self) -> list[tuple[EventKind, Message]]:
        taken, self._events = self._events, []
        self.any.clear()
        return taken

    def put_back(self, taken: list[tuple[EventKind, Message]]) -> None:
        self._events = taken + self._events
        self.any.set()


class RunningJob:
    """A claim while its job runs. `abandon` and `release` end the run early."""

    def __init__(self, ledger: Ledger, claim: Claim) -> None:
        self.claim = claim
        self._ledger = ledger
        self._pending = Pending()
        self._ended = asyncio.Event()
        self._kill = threading.Event()
        self._lost = False
        self._releasing = False

    def abandon(self) -> None:
        """Call when the claim is lost or cancelled: kills the run and drops its result."""
        self._lost = True
        self._kill.set()

    def release(self) -> None:
        """Call when this worker stops: kills the run and queues the submission again for another worker."""
        self._releasing = True
        self._kill.set()

    async def run(self, runner: Runner, threads: Executor, patience: Patience) -> None:
        """Run it and write its end to the ledger. After that, raises SlotHangs if the runner never returned."""
        loop = asyncio.get_running_loop()

        def on_event(kind: EventKind, body: Message) -> None:
            loop.call_soon_threadsafe(self._pending.add, kind, body)

        beside = [asyncio.create_task(self._keep_lease()), asyncio.create_task(self._stream())]
        # With the context of this task, so that what the thread logs names the submission too.
        in_context = copy_context().run
        running = loop.run_in_executor(threads, in_context, runner, self.claim.job, on_event, self._kill)
        try:
            await asyncio.wait({running}, timeout=patience.run_seconds)
            self._kill.set()
            await asyncio.wait({running}, timeout=patience.kill_seconds)
        finally:
            self._kill.set()
            self._ended.set()
            # Awaited and not cancelled: after a cancelled transaction we would not know what was written.
            await asyncio.gather(*beside)
        if running.done():
            return await self._end(running.result())
        await self._end(make_end(self.claim.job, Outcome.GRADER_FAULT))
        raise SlotHangs(f"{self.claim.id}: neither its limits nor a kill ended the run")

    async def _end(self, result: Verdict | RunEnd) -> None:
        if self._lost:
            return
        progress = [(kind, body.model_dump_json()) for kind, body in self._pending.take()]
        while True:
            try:
                if self._releasing:
                    await self._ledger.release(self.claim)
                elif not await self._ledger.finish(self.claim, result, progress):
                    log.warning("%s: finished too late, because claim %d is lost", *self._name())
                return
            except StorageRefused as error:
                log.error("%s (claim %d): the result cannot be stored yet: %s", *self._name(), error.reason)
                if self._releasing:
                    return
            await asyncio.sleep(RETRY_SECONDS)

    async def _keep_lease(self) -> None:
        lease_seconds = self._ledger.policy.lease_seconds
        kept_at = time.monotonic()
        while not await self._pause(lease_seconds / BEATS_PER_LEASE):
            try:
                if not await self._ledger.beat(self.claim):
                    return self.abandon()
                kept_at = time.monotonic()
            except StorageRefused as error:
                log.error("%s (claim %d): the lease could not be extended: %s", *self._name(), error.reason)
                if time.monotonic() - kept_at > lease_seconds:
                    return self.abandon()

    async def _stream(self) -> None:
        pause_seconds = FIRST_FLUSH_SECONDS
        while await self._wait_for_events() and not await self._pause(pause_seconds):
            taken = self._pending.take()
            try:
                if not await self._ledger.add_events(
                    self.claim, [(kind, body.model_dump_json()) for kind, body in taken]
                ):
                    return self.abandon()
            except StorageRefused:
                self._pending.put_back(taken)
            pause_seconds = FLUSH_SECONDS

    async def _wait_for_events(self) -> bool:
        """Returns False if the run ended; its result is then stored with the pending events."""
        some = asyncio.create_task(self._pending.any.wait())
        end = asyncio.create_task(self._ended.wait())
        await asyncio.wait({some, end}, return_when=asyncio.FIRST_COMPLETED)
        some.cancel()
        end.cancel()
        return not self._ended.is_set()

    async def _pause(self, seconds: float) -> bool:
        """Returns True if the run ended meanwhile."""
        try:
            async with asyncio.timeout(seconds):
                await self._ended.wait()
        except TimeoutError:
            return False
        return True

    def _name(self) -> tuple[str, int]:
        return self.claim.id, self.claim.claim_number
