"""The interface between website and worker. Every method is one short transaction or one read."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path

from graders.contract.events import Event
from graders.contract.hello import WorkerHello
from graders.contract.jobs import GradeJob, Queue, RunJob
from graders.contract.model import ExerciseName, LearnerId, SubmissionId
from graders.contract.results import RunEnd, Verdict
from graders.ledger import claims, pruning, queries
from graders.ledger import finish as finishing
from graders.ledger import reconcile as reconciling
from graders.ledger import submit as submitting
from graders.ledger import workers as workers_table
from graders.ledger.card_quota import CardQuota, read_card_quota
from graders.ledger.claims import Progress
from graders.ledger.database import Database
from graders.ledger.datagram_wakeups import DatagramWakeups
from graders.ledger.errors import StorageRefused
from graders.ledger.event_streams import Watch
from graders.ledger.fairness import Pace
from graders.ledger.queue_reader import QueueReader
from graders.ledger.records import (
    Accepted,
    Claim,
    Condition,
    Depth,
    FinishedSubmission,
    Kind,
    Origin,
    Policy,
    Pruned,
    QueuePosition,
    Reconciled,
    Submission,
    Unjudged,
    WorkerSeen,
)
from graders.ledger.reputation import read_pace
from graders.ledger.unjudged import read_unjudged
from graders.ledger.wakeups import CANCEL, EVENTS, Listener, Wakeups

PACE_LASTS_SECONDS = 5.0


class Ledger:
    """Submissions and their events. Each process has one ledger; close it in the lifespan that opened it."""

    def __init__(self, database: Database, wakeups: Wakeups, policy: Policy) -> None:
        self.database = database
        self.dispatcher = _open_dispatcher(database, wakeups, policy)
        self.policy = policy
        self._wakeups = wakeups
        self._watch = Watch(database, wakeups, policy.follow_poll_seconds)
        self._paces: dict[Queue, tuple[float, Pace]] = {}

    # A learner's side.

    async def submit(
        self,
        learner: LearnerId,
        idempotency_key: str,
        job: GradeJob | RunJob,
        queue: Queue = Queue.CPU,
        origin: Origin = Origin(),
        *,
        idle: bool = False,
    ) -> Accepted:
        """Store the job. Raises TooManyPending, AddressBusy, QueueFull or StorageRefused, and then nothing changed.

        An `idle` run waits until no other job does, and takes the place of the learner's idle run that still waits.
        The same learner and idempotency_key always get the same submission, even with a different job.
        """
        background = Kind.IDLE if idle else None
        request = submitting.SubmitRequest(learner, idempotency_key, job, queue, origin, background)
        pace = await self._pace(queue)
        taken = await self.database.write_guarded(submitting.submit, request, pace, self.policy)
        if taken.superseded:
            self._wakeups.wake(EVENTS)
        self.dispatcher.wake(queue)
        return taken.accepted

    async def cancel(self, submission: SubmissionId, learner: LearnerId) -> bool:
        """End an unfinished submission of this learner as `cancelled`, and kill its run. False if there is none."""
        if not await self.database.write_guarded(finishing.cancel, submission, learner):
            return False
        self._wakeups.wake(EVENTS)
        self._wakeups.wake(CANCEL)
        return True

    async def find(self, submission: SubmissionId) -> Submission | None:
        return await self.database.read(queries.find, submission)

    async def history(self, learner: LearnerId, exercise: ExerciseName, at_most: int = 50) -> tuple[Submission, ...]:
        """Newest first."""
        return await self.database.read(queries.read_history, learner, exercise, at_most)

    async def card_quota(self, learner: LearnerId) -> CardQuota:
        return await self.database.read(read_card_quota, learner, self.policy)

    async def finished_submissions(self, learner: LearnerId) -> tuple[FinishedSubmission, ...]:
        """All the learner's finished submissions to exercises, oldest first."""
        return await self.database.read(queries.read_finished, learner)

    async def everything(self, learner: LearnerId) -> tuple[Submission, ...]:
        """All that is kept of a learner's submissions and runs, oldest first: for a copy of their data."""
        return await self.database.read(queries.read_everything, learner)

    def tell_forgotten(self) -> None:
        """Call after `finish.forget` deleted submissions: their streams end, and their running jobs are killed."""
        self._wakeups.wake(EVENTS)
        self._wakeups.wake(CANCEL)

    async def find_position(self, submission: SubmissionId, queue: Queue = Queue.CPU) -> QueuePosition | None:
        """Its place in the queue; None if it is running, finished or unknown."""
        return await self.database.read(submitting.find_position, submission, await self._pace(queue))

    async def events_after(self, submission: SubmissionId, seq: int) -> tuple[Event, ...]:
        """The events after `seq`, in order. The body of the `finished` event is the result as JSON."""
        return await self.database.read(queries.read_events, submission, seq)

    def follow(self, submission: SubmissionId, after_seq: int = 0) -> AsyncIterator[Event]:
        """Yields every event after `after_seq`, old and new, once and in order. Ends after `finished`.

        An unknown or forgotten submission ends at once without events. Holds no connection while it waits.
        """
        return self._watch.follow(submission, after_seq)

    # A worker's side.

    async def claim(self, submission: SubmissionId, worker: str) -> Claim | None:
        """Claim it and add its `started` event. None if this was a second delivery: the caller drops it.

        Raises UnreadableJob, and leaves it in the queue, if another version of this program wrote it.
        """
        claim = await self.database.write_guarded(claims.claim, submission, worker, self.policy)
        if claim is not None:
            self._wakeups.wake(EVENTS)
        return claim

    async def beat(self, claim: Claim) -> bool:
        """Extend the lease. False if the claim is lost or cancelled: the caller kills the run."""
        return await self.database.write_guarded(claims.beat, claim, self.policy)

    async def add_events(self, claim: Claim, progress: Sequence[Progress]) -> bool:
        """Add them to the submission. False if the claim is lost; then nothing was added."""
        added = await self.database.write_guarded(claims.add_events, claim, progress)
        self._wakeups.wake(EVENTS)
        return added

    async def finish(self, claim: Claim, result: Verdict | RunEnd, progress: Sequence[Progress] = ()) -> bool:
        """Store the result and its event in one transaction. False if the claim is lost; then nothing was stored."""
        finished = await self.database.write_guarded(claims.finish, claim, result, progress)
        self._wakeups.wake(EVENTS)
        return finished

    async def release(self, claim: Claim) -> bool:
        """Queue it again for another worker, without counting a lost worker. False if the claim is lost."""
        queue = await self.database.write_guarded(claims.release, claim)
        if queue is None:
            return False
        self.dispatcher.wake(queue)
        return True

    async def find_lost(self, held: Sequence[Claim]) -> tuple[Claim, ...]:
        """Those of the claims that were cancelled, or that another worker has now."""
        return await self.database.read(claims.find_lost, held)

    def listen_for_cancels(self) -> AbstractContextManager[Listener]:
        return closing(self._wakeups.listen(CANCEL))

    async def say_hello(self, hello: WorkerHello) -> None:
        """Call at the start and with each reconciliation: a silent worker does not count as alive."""
        await self.database.write_guarded(workers_table.say_hello, hello)

    async def say_goodbye(self, worker: str) -> None:
        await self.database.write_guarded(workers_table.say_goodbye, worker)

    async def reconcile(self) -> Reconciled:
        """Queue again what lost workers left, and end what no worker can judge or survive."""
        reconciled = await self.database.write(reconciling.reconcile, self.policy)
        if reconciled.requeued:
            for queue in Queue:
                self.dispatcher.wake(queue)
        if reconciled.faulted or reconciled.unjudgeable:
            self._wakeups.wake(EVENTS)
        return reconciled

    # A website's side.

    async def prune(self) -> Pruned:
        """Forget old cells, old events and workers that went, some at a time."""
        return await self.database.write(pruning.prune, self.policy)

    async def keep_pruning(self, every_seconds: float) -> None:
        """Prune until cancelled. After StorageRefused, the next round tries again."""
        while True:
            await asyncio.sleep(every_seconds)
            with contextlib.suppress(StorageRefused):
                await self.prune()

    # An operator's side.

    async def workers(self) -> tuple[WorkerSeen, ...]:
        """The workers that said hello lately."""
        return await self.database.read(workers_table.read_workers, self.policy)

    async def condition(self) -> Condition:
        return await self.database.read(workers_table.read_condition, self.policy)

    async def unjudged(self) -> tuple[Unjudged, ...]:
        """What waits because nobody can judge it."""
        return await self.database.read(read_unjudged, self.policy)

    async def depth(self, queue: Queue) -> Depth:
        return await self.database.read(queries.read_depth, queue)

    def end_streams(self) -> None:
        """End every stream of this process at once; a reader asks for the rest by the last event number they saw."""
        self._watch.end()

    async def close(self) -> None:
        await self._watch.close()
        await self._wakeups.close()
        await self.database.close()

    async def _pace(self, queue: Queue) -> Pace:
        """Cached for a few seconds, because it is only used for estimates."""
        until, pace = self._paces.get(queue, (0.0, None))
        now = time.monotonic()
        if pace is None or now >= until:
            pace = await self.database.read(read_pace, queue, self.policy)
            self._paces[queue] = (now + PACE_LASTS_SECONDS, pace)
        return pace


def open_ledger(database_url: str, wakeups_folder: Path, policy: Policy = Policy()) -> Ledger:
    """Open this process's ledger. Call it in the process that uses it, where the event loop runs.

    The folder is for SQLite, where all processes are on one machine; on PostgreSQL its server wakes them.
    """
    return open_ledger_on(Database(database_url), wakeups_folder, policy)


def open_ledger_on(database: Database, wakeups_folder: Path, policy: Policy = Policy()) -> Ledger:
    """The same, on a database that the caller has open, because a process has only one writer."""
    return Ledger(database, _open_wakeups(database, wakeups_folder), policy)


def _open_dispatcher(database: Database, wakeups: Wakeups, policy: Policy) -> QueueReader:
    if database.is_sqlite:
        return QueueReader(database, wakeups, policy.dispatch_poll_seconds)
    # It imports Procrastinate, which an installation on SQLite does not have.
    from graders.ledger.ticket_reader import TicketReader  # noqa: PLC0415

    return TicketReader(database, wakeups, policy.dispatch_poll_seconds)


def _open_wakeups(database: Database, folder: Path) -> Wakeups:
    if database.is_sqlite:
        return DatagramWakeups(folder)
    # It imports PostgreSQL's driver, which an installation on SQLite does not have.
    from graders.ledger.notified_wakeups import NotifiedWakeups  # noqa: PLC0415

    return NotifiedWakeups(database.url)
