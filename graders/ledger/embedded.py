"""The dispatcher of one machine: the row is the ticket, a doorbell brings it at once, a look now and then as well."""

import asyncio

from sqlalchemy import Connection, select

from graders.contract.jobs import Queue
from graders.contract.model import SubmissionId
from graders.ledger.database import Database
from graders.ledger.dispatch import Handle, Ticket
from graders.ledger.doorbell import Bell, Doorbells, queue_topic
from graders.ledger.tables import queued, submissions


class EmbeddedDispatcher:
    """Reads the queue from the submissions' table itself: nothing can be queued there and forgotten here."""

    def __init__(self, database: Database, bells: Doorbells, poll_seconds: float) -> None:
        self._database = database
        self._bells = bells
        self._poll_seconds = poll_seconds

    def enqueue(self, connection: Connection, ticket: Ticket) -> None:
        """The caller's insert has put it in the queue."""

    def wake(self, queue: Queue) -> None:
        self._bells.ring(queue_topic(queue))

    def undispatched(self, connection: Connection) -> tuple[Ticket, ...]:
        return ()

    async def worker(self, queue: Queue, slots: int, handle: Handle, stopping: asyncio.Event) -> None:
        running: dict[asyncio.Task[None], SubmissionId] = {}
        stop = asyncio.create_task(stopping.wait())
        with self._bells.listen(queue_topic(queue)) as bell:
            while not stopping.is_set():
                waiting = await self._next(queue, slots - len(running), tuple(running.values()))
                for submission in waiting:
                    running[asyncio.create_task(_call(handle, submission))] = submission
                await self._rest(bell, stop, running, full=len(running) >= slots)
        stop.cancel()
        await asyncio.gather(*running)

    async def _rest(
        self, bell: Bell, stop: asyncio.Task[bool], running: dict[asyncio.Task[None], SubmissionId], *, full: bool
    ) -> None:
        """Wait until there is a reason to look again: a ring (if a slot is free), an end of a run, or time."""
        ring = None if full else asyncio.create_task(bell.wait(self._poll_seconds))
        awaited = {stop, *running, *([ring] if ring else [])}
        done, _ = await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
        if ring and ring not in done:
            ring.cancel()
            await asyncio.wait({ring})
        for task in [task for task in running if task in done]:
            del running[task]
            task.result()

    async def _next(self, queue: Queue, at_most: int, besides: tuple[SubmissionId, ...]) -> list[SubmissionId]:
        if at_most <= 0:
            return []
        return await self._database.read(_read_next, queue, at_most, besides)


def _read_next(
    connection: Connection, queue: Queue, at_most: int, besides: tuple[SubmissionId, ...]
) -> list[SubmissionId]:
    query = (
        select(submissions.c.id)
        .where(submissions.c.queue == queue, queued, submissions.c.id.not_in(besides))
        .order_by(submissions.c.priority.desc(), submissions.c.number)
        .limit(at_most)
    )
    return [SubmissionId(row.id) for row in connection.execute(query)]


async def _call(handle: Handle, submission: SubmissionId) -> None:
    await handle(submission)
