"""The seam between the ledger, which is the truth, and an engine that brings its rows to workers."""

from asyncio import Event as Flag
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy import Connection

from graders.contract.jobs import Queue
from graders.contract.model import SubmissionId

Handle = Callable[[SubmissionId], Awaitable[None]]
"""Claims and runs one submission. Being called twice for one is normal: the second claim gets nothing."""


@dataclass(frozen=True)
class Ticket:
    """What an engine needs to know of a submission."""

    id: SubmissionId
    queue: Queue
    priority: int


class Dispatcher(Protocol):
    """An engine may lose, repeat and reorder tickets; the ledger's claim and reconciliation put that right."""

    def enqueue(self, connection: Connection, ticket: Ticket) -> None:
        """Add the ticket within the caller's transaction: row and ticket are committed together or not at all."""

    def wake(self, queue: Queue) -> None:
        """Called after the commit: tickets are waiting."""

    def undispatched(self, connection: Connection) -> tuple[Ticket, ...]:
        """Queued submissions for which the engine has no ticket any more."""

    async def worker(self, queue: Queue, slots: int, handle: Handle, stopping: Flag) -> None:
        """Call `handle` for waiting submissions, at most `slots` at a time, until `stopping`; then let them end."""
