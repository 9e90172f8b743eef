"""Gives queued submissions to a worker: the queue is the table itself, and a wake-up says that a row was added."""

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import Connection, select

from graders.contract.jobs import Queue
from graders.contract.model import SubmissionId
from graders.ledger.database import Database
from graders.ledger.errors import StorageRefused
from graders.ledger.fairness import count_unproven_slots
from graders.ledger.tables import queued, submissions
from graders.ledger.wakeups import Listener, Wakeups, queue_topic

log = logging.getLogger(__name__)

MAX_PASSED_OVER = 500
"""How many submissions that wait for another version of their exercise one read of the queue passes over."""

Handle = Callable[[SubmissionId], Coroutine[Any, Any, None]]
"""Claims and runs one submission. It may be called twice for one submission: the second claim then fails."""
CanJudge = Callable[[SubmissionId, str, str], bool]
"""Whether the worker can read this submission, and has its exercise in the version with this digest (empty: any)."""


@dataclass(frozen=True)
class Taken:
    """A submission that was taken from the queue, and whether its rank is `proven` (see fairness.py)."""

    submission: SubmissionId
    proven: bool


@dataclass(frozen=True)
class Room:
    """How many submissions a worker can take now, and how many of them may be not proven."""

    slots: int
    unproven: int


Running = dict[asyncio.Task[None], Taken]


class QueueReader:
    """Reads the queue from the submissions table, so a queued row cannot be forgotten here.

    On PostgreSQL the queue is a table of tickets: ticket_reader.py takes them, and has the rest from here.
    """

    def __init__(self, database: Database, wakeups: Wakeups, poll_seconds: float) -> None:
        self._database = database
        self._wakeups = wakeups
        self._poll_seconds = poll_seconds

    def wake(self, queue: Queue) -> None:
        """Call after the commit that put a submission into the queue."""
        self._wakeups.wake(queue_topic(queue))

    async def worker(
        self, queue: Queue, slots: int, handle: Handle, stopping: asyncio.Event, can_judge: CanJudge | None = None
    ) -> None:
        """Call `handle` for queued submissions, at most `slots` at a time, until `stopping`; then let them end.

        fairness.py says which come first, and how many slots jobs that are not proven may have. Submissions that this
        worker cannot judge are left to other workers; if none can judge them, the reconciliation ends them.
        """
        running: Running = {}
        stop = asyncio.create_task(stopping.wait())
        with closing(self._listen(queue)) as listener:
            while not stopping.is_set():
                for taken in await self._look(queue, slots, running.values(), can_judge):
                    running[asyncio.create_task(handle(taken.submission))] = taken
                await self._pause(listener, stop, running, full=len(running) >= slots)
        stop.cancel()
        await asyncio.gather(*running)

    def _listen(self, queue: Queue) -> Listener:
        return self._wakeups.listen(queue_topic(queue))

    async def _pause(self, listener: Listener, stop: asyncio.Task[bool], running: Running, *, full: bool) -> None:
        """Wait until the queue should be read again: a run ends or, if a slot is free, a wake-up or the poll time."""
        woken = None if full else asyncio.create_task(listener.wait(self._poll_seconds))
        awaited = {stop, *running, *([woken] if woken else [])}
        done, _ = await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
        if woken and woken not in done:
            woken.cancel()
            await asyncio.wait({woken})
        for task in [task for task in running if task in done]:
            del running[task]
            task.result()

    async def _look(
        self, queue: Queue, slots: int, running: Collection[Taken], can_judge: CanJudge | None
    ) -> list[Taken]:
        """Nothing if the database does not answer: the next look comes after the poll time."""
        free = slots - len(running)
        unproven = min(free, count_unproven_slots(slots) - sum(not taken.proven for taken in running))
        if free <= 0:
            return []
        besides = tuple(taken.submission for taken in running)
        try:
            return await self._next(queue, Room(free, max(unproven, 0)), besides, can_judge)
        except StorageRefused as error:
            log.error("the queue cannot be read: %s", error.reason)
            return []

    async def _next(
        self, queue: Queue, room: Room, besides: tuple[SubmissionId, ...], can_judge: CanJudge | None
    ) -> list[Taken]:
        return await self._database.read(_read_next, queue, room, besides, can_judge)


def _read_next(
    connection: Connection,
    queue: Queue,
    room: Room,
    besides: tuple[SubmissionId, ...],
    can_judge: CanJudge | None,
) -> list[Taken]:
    """The first in the queue that this worker can judge."""
    row = submissions.c
    found: list[Any] = []
    for sort, limit in ((row.proven, room.slots), (~row.proven, room.unproven)):
        query = (
            select(row.id, row.proven, row.priority, row.number, row.exercise, row.exercise_digest)
            .where(row.queue == queue, queued, sort, row.id.not_in(besides))
            .order_by(row.priority.desc(), row.number)
            .limit(limit + MAX_PASSED_OVER if limit else 0)
        )
        with connection.execute(query) as waiting:
            found += islice((one for one in waiting if _fits(one, can_judge)), limit)
    found.sort(key=lambda one: (-one.priority, one.number))
    return [Taken(SubmissionId(one.id), one.proven) for one in found[: room.slots]]


def _fits(waiting: Any, can_judge: CanJudge | None) -> bool:
    return can_judge is None or can_judge(SubmissionId(waiting.id), waiting.exercise, waiting.exercise_digest)
