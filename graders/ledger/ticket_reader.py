"""Gives queued submissions to a worker on PostgreSQL: Procrastinate's tickets say which, and nobody takes one twice.

The worker takes a ticket when it has a free slot, so it holds none that another could run. It deletes the ticket at
once: from then on the submission's row says whose it is, and its lease what becomes of it. Procrastinate's own
retries and heartbeats are not used.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Final, cast

from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job, Status

from graders.contract.jobs import Queue
from graders.contract.model import SubmissionId
from graders.ledger.database import Database
from graders.ledger.engines import open_pool
from graders.ledger.errors import StorageUnavailable
from graders.ledger.queue_reader import CanJudge, Handle, QueueReader, Room, Taken
from graders.ledger.tickets import DIGEST, EXERCISE, SUBMISSION, name_queue
from graders.ledger.wakeups import Wakeups

MAX_HELD_BACK: Final = 200
"""How many tickets that it cannot judge a worker holds during one look, to see those behind them."""
AT_ONCE: Final = datetime.fromtimestamp(0, UTC)
"""In the past whatever a host's clock says: the server compares it with its own."""
LISTEN_AGAIN_SECONDS: Final = 1.0

log = logging.getLogger(__name__)


class TicketListener:
    """Woken by the NOTIFY that each new ticket sends when its transaction commits."""

    def __init__(self) -> None:
        self.task: asyncio.Task[None] | None = None
        self._woken = asyncio.Event()

    async def notice(self, **_: Any) -> None:
        self._woken.set()

    async def wait(self, timeout_seconds: float) -> bool:
        try:
            async with asyncio.timeout(timeout_seconds):
                await self._woken.wait()
        except TimeoutError:
            return False
        self._woken.clear()
        return True

    def close(self) -> None:
        if self.task is not None:
            self.task.cancel()


class TicketReader(QueueReader):
    """A worker's queue on PostgreSQL. `worker` has connections of its own, beside the ledger's."""

    def __init__(self, database: Database, wakeups: Wakeups, poll_seconds: float) -> None:
        super().__init__(database, wakeups, poll_seconds)
        self._tickets = App(connector=PsycopgConnector())
        self._deleting: set[asyncio.Task[None]] = set()

    def wake(self, queue: Queue) -> None:
        """Do nothing: the transaction that wrote the ticket has told the workers."""

    async def worker(
        self, queue: Queue, slots: int, handle: Handle, stopping: asyncio.Event, can_judge: CanJudge | None = None
    ) -> None:
        async with self._connected():
            await super().worker(queue, slots, handle, stopping, can_judge)
            await asyncio.gather(*self._deleting)

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[None]:
        """Procrastinate's connections. A server that is away is no error here: each look tries again."""
        logging.getLogger("procrastinate").setLevel(logging.WARNING)
        connector = PsycopgConnector()
        async with open_pool(self._database.url) as pool:
            await connector.open_async(pool)
            with self._tickets.replace_connector(connector) as self._tickets:
                yield

    def _listen(self, queue: Queue) -> TicketListener:
        listener = TicketListener()
        listener.task = asyncio.create_task(self._keep_listening(queue, listener))
        return listener

    async def _keep_listening(self, queue: Queue, listener: TicketListener) -> None:
        names = [name_queue(queue, proven=proven) for proven in (True, False)]
        while True:
            with contextlib.suppress(ConnectorException):
                await self._tickets.job_manager.listen_for_jobs(on_notification=listener.notice, queues=names)
            await asyncio.sleep(LISTEN_AGAIN_SECONDS)

    async def _next(
        self, queue: Queue, room: Room, besides: tuple[SubmissionId, ...], can_judge: CanJudge | None
    ) -> list[Taken]:
        found: list[Taken] = []
        passed_over: list[Job] = []
        try:
            while len(found) < room.slots and len(passed_over) < MAX_HELD_BACK:
                ticket = await self._take(queue, unproven=sum(not one.proven for one in found) < room.unproven)
                if ticket is None:
                    break
                if not _can_be_read(ticket):
                    log.warning("ticket %s is dropped: no ledger wrote %s", ticket.id, repr(ticket.task_kwargs)[:200])
                    self._delete_soon(ticket)
                elif _fits(ticket, can_judge):
                    found.append(Taken(SubmissionId(str(ticket.task_kwargs[SUBMISSION])), _is_proven(queue, ticket)))
                    self._delete_soon(ticket)
                else:
                    passed_over.append(ticket)
            for ticket in passed_over:
                await self._tickets.job_manager.retry_job(ticket, retry_at=AT_ONCE)
        except ConnectorException as error:
            # What is found is run. Tickets that could not be returned are lost ones to the reconciliation.
            if not found:
                raise StorageUnavailable(str(error.__cause__)) from error
        return found

    async def _take(self, queue: Queue, *, unproven: bool) -> Job | None:
        names = [name_queue(queue, proven=proven) for proven in ((True, False) if unproven else (True,))]
        # No number of a worker: what becomes of a lost worker's ticket is the ledger's reconciliation to say.
        return await self._tickets.job_manager.fetch_job(names, cast(int, None))

    def _delete_soon(self, ticket: Job) -> None:
        deleting = asyncio.create_task(self._delete(ticket))
        self._deleting.add(deleting)
        deleting.add_done_callback(self._deleting.discard)

    async def _delete(self, ticket: Job) -> None:
        try:
            await self._tickets.job_manager.finish_job(ticket, Status.SUCCEEDED, delete_job=True)
        except ConnectorException as error:
            log.warning("ticket %s is not deleted yet, the reconciliation will: %s", ticket.id, error.__cause__)


def _is_proven(queue: Queue, ticket: Job) -> bool:
    return ticket.queue == name_queue(queue, proven=True)


def _can_be_read(ticket: Job) -> bool:
    """A grader's role may write tickets, so a foreign one can say anything, and must not end its reader."""
    says: object = ticket.task_kwargs
    return (
        isinstance(says, dict)
        and isinstance(says.get(SUBMISSION), str)
        and all(isinstance(says.get(key, 0), str | None) for key in (EXERCISE, DIGEST))
    )


def _fits(ticket: Job, can_judge: CanJudge | None) -> bool:
    says = cast(dict[str, str], ticket.task_kwargs)
    return can_judge is None or can_judge(SubmissionId(says[SUBMISSION]), says[EXERCISE], says[DIGEST])
