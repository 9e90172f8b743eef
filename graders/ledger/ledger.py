"""The one door between website and worker. Every method is one short transaction, or one read."""

import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from sqlalchemy.exc import IntegrityError

from graders.contract.events import Event
from graders.contract.hello import WorkerHello
from graders.contract.jobs import GradeJob, Queue, RunJob
from graders.contract.model import ExerciseName, LearnerId, SubmissionId
from graders.contract.results import RunEnd, Verdict
from graders.ledger import ending, intake, reading, roster, running, tidying
from graders.ledger.database import Database
from graders.ledger.dispatch import Dispatcher
from graders.ledger.doorbell import CANCEL, EVENTS, Bell, Doorbells
from graders.ledger.embedded import EmbeddedDispatcher
from graders.ledger.records import (
    Accepted,
    Claim,
    Depth,
    Policy,
    Standing,
    Submission,
    Tidied,
    WorkerSeen,
)
from graders.ledger.running import Progress
from graders.ledger.watch import Watch

PACE_LASTS_SECONDS = 5.0


class Ledger:
    """Submissions and their events. One in each process; close it in the lifespan that opened it."""

    def __init__(self, database: Database, bells: Doorbells, dispatcher: Dispatcher, policy: Policy) -> None:
        self.database = database
        self.dispatcher = dispatcher
        self.policy = policy
        self._bells = bells
        self._watch = Watch(database, bells, policy.follow_poll_seconds)
        self._paces: dict[Queue, tuple[float, intake.Pace]] = {}

    # A learner's side.

    async def submit(
        self,
        learner: LearnerId,
        token: str,
        job: GradeJob | RunJob,
        queue: Queue = Queue.CPU,
        level: int = 0,
    ) -> Accepted:
        """Keep the job for good, or raise TooManyPending, QueueFull or StorageRefused with nothing changed.

        The same learner and token get the same submission, however often and whatever the job. A higher
        `level` runs earlier.
        """
        request = intake.Request(learner, token, job, queue, level)
        pace = await self._pace(queue)
        try:
            accepted = await self._submit_once(request, pace)
        except IntegrityError:
            # Two at once with one token, on a database whose writers do not wait for each other.
            accepted = await self._submit_once(request, pace)
        self.dispatcher.wake(queue)
        return accepted

    async def _submit_once(self, request: intake.Request, pace: intake.Pace) -> Accepted:
        taken = await self.database.write(intake.take_in, request, pace, self.policy, self.dispatcher)
        if taken.superseded:
            self._bells.ring(EVENTS)
        return taken.accepted

    async def cancel(self, submission: SubmissionId, learner: LearnerId) -> bool:
        """Withdraw an unfinished submission of this learner: it gets the outcome `cancelled`, its box is killed."""
        if not await self.database.write(ending.cancel, submission, learner):
            return False
        self._bells.ring(EVENTS)
        self._bells.ring(CANCEL)
        return True

    async def find(self, submission: SubmissionId) -> Submission | None:
        return await self.database.read(reading.find, submission)

    async def history(self, learner: LearnerId, exercise: ExerciseName, at_most: int = 50) -> tuple[Submission, ...]:
        """Newest first."""
        return await self.database.read(reading.read_history, learner, exercise, at_most)

    async def standings(self, learner: LearnerId) -> tuple[Standing, ...]:
        """All the learner's finished submissions to exercises, oldest first."""
        return await self.database.read(reading.read_standings, learner)

    async def everything(self, learner: LearnerId) -> tuple[Submission, ...]:
        """All that is kept of a learner's submissions and runs, oldest first: for a copy of their data."""
        return await self.database.read(reading.read_everything, learner)

    async def forget(self, learner: LearnerId) -> None:
        """Delete all of a learner's submissions with their events; what runs loses its claim and is killed."""
        await self.database.write(ending.forget, learner)
        self._bells.ring(EVENTS)
        self._bells.ring(CANCEL)

    async def place(self, submission: SubmissionId) -> int:
        """1 is the next to run; 0 is running, finished or unknown."""
        return await self.database.read(intake.count_place, submission)

    async def estimate_seconds(self, queue: Queue, place: int) -> float:
        return (await self._pace(queue)).estimate_seconds(place)

    async def events_after(self, submission: SubmissionId, seq: int) -> tuple[Event, ...]:
        """In order. The body of `finished` is the result as JSON."""
        return await self.database.read(reading.read_events, submission, seq)

    def follow(self, submission: SubmissionId, after_seq: int = 0) -> AsyncIterator[Event]:
        """Every event after `after_seq`, old and new, once and in order. Ends after `finished`.

        An unknown or forgotten submission has no events, and ends at once. Holds no connection while it waits.
        """
        return self._watch.follow(submission, after_seq)

    # A worker's side.

    async def claim(self, submission: SubmissionId, worker: str) -> Claim | None:
        """Take it, with its `started` event. None: a duplicate delivery, to be dropped."""
        claim = await self.database.write(running.claim, submission, worker, self.policy)
        if claim is not None:
            self._bells.ring(EVENTS)
        return claim

    async def beat(self, claim: Claim) -> bool:
        """Keep the lease. False: it is lost or cancelled; kill the box."""
        return await self.database.write(running.beat, claim, self.policy)

    async def add_events(self, claim: Claim, progress: Sequence[Progress]) -> bool:
        """False: the claim is lost, and nothing was added."""
        added = await self.database.write(running.add_events, claim, progress)
        self._bells.ring(EVENTS)
        return added

    async def finish(self, claim: Claim, result: Verdict | RunEnd, progress: Sequence[Progress] = ()) -> bool:
        """The verdict and its event in one transaction. False: the claim is lost, and the result is void."""
        finished = await self.database.write(running.finish, claim, result, progress)
        self._bells.ring(EVENTS)
        return finished

    async def hand_back(self, claim: Claim) -> bool:
        """Queue it again for another worker; this counts as no death."""
        ticket = await self.database.write(running.hand_back, claim, self.dispatcher)
        if ticket is None:
            return False
        self.dispatcher.wake(ticket.queue)
        return True

    async def find_lost(self, claims: Sequence[Claim]) -> tuple[Claim, ...]:
        """Those claims that are cancelled, or someone else's by now."""
        return await self.database.read(running.find_lost, claims)

    def listen_for_cancels(self) -> Bell:
        return self._bells.listen(CANCEL)

    async def say_hello(self, hello: WorkerHello) -> None:
        """Said at start and again with each reconciliation: a silent worker is not counted."""
        await self.database.write(roster.say_hello, hello)

    async def say_goodbye(self, worker: str) -> None:
        await self.database.write(roster.say_goodbye, worker)

    async def reconcile(self) -> Tidied:
        """Queue again what dead workers left, give up what killed several, forget old cells."""
        tidied = await self.database.write(tidying.reconcile, self.dispatcher, self.policy)
        if tidied.requeued:
            for queue in Queue:
                self.dispatcher.wake(queue)
        if tidied.faulted:
            self._bells.ring(EVENTS)
        return tidied

    # An operator's side.

    async def workers(self) -> tuple[WorkerSeen, ...]:
        """Those that said hello lately."""
        return await self.database.read(roster.read_workers, self.policy)

    async def depth(self, queue: Queue) -> Depth:
        return await self.database.read(reading.read_depth, queue)

    async def close(self) -> None:
        await self._watch.close()
        await self.database.close()

    async def _pace(self, queue: Queue) -> intake.Pace:
        """Read at most once in a few seconds: it only feeds estimates."""
        until, pace = self._paces.get(queue, (0.0, None))
        now = time.monotonic()
        if pace is None or now >= until:
            pace = await self.database.read(reading.read_pace, queue, self.policy)
            self._paces[queue] = (now + PACE_LASTS_SECONDS, pace)
        return pace


def open_ledger(database_url: str, doorbell_dir: Path, policy: Policy = Policy()) -> Ledger:
    """A ledger with the embedded dispatcher. Must be called where it is used: in the running event loop's process."""
    return open_ledger_on(Database(database_url), doorbell_dir, policy)


def open_ledger_on(database: Database, doorbell_dir: Path, policy: Policy = Policy()) -> Ledger:
    """The same, sharing a database that the caller has open: one process has one writer."""
    bells = Doorbells(doorbell_dir)
    return Ledger(database, bells, EmbeddedDispatcher(database, bells, policy.dispatch_poll_seconds), policy)
