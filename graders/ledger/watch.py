"""The streams of one process: one bell and one query wake those, and only those, that have something new."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

from sqlalchemy.exc import SQLAlchemyError

from graders.contract.events import Event, EventKind
from graders.contract.model import SubmissionId
from graders.ledger.database import Database
from graders.ledger.doorbell import EVENTS, Bell, Doorbells
from graders.ledger.reading import has_ended, read_events, read_last_seqs


@dataclass(eq=False)
class Watcher:
    """One open stream: what it has shown, and the flag that wakes it."""

    submission: SubmissionId
    seen_seq: int
    woken: asyncio.Event = field(default_factory=asyncio.Event)


class Watch:
    """Listens while anyone watches; idle otherwise."""

    def __init__(self, database: Database, bells: Doorbells, poll_seconds: float) -> None:
        self._database = database
        self._bells = bells
        self._poll_seconds = poll_seconds
        self._watchers: set[Watcher] = set()
        self._listener: asyncio.Task[None] | None = None

    async def follow(self, submission: SubmissionId, after_seq: int) -> AsyncIterator[Event]:
        """Subscribe, replay, wait: in this order, so that nothing falls between. Ends after `finished`, also for a
        reader who has seen it, or who names an event that will never be."""
        with self._subscribe(submission, after_seq) as watcher:
            while True:
                watcher.woken.clear()
                news = await self._database.read(read_events, submission, watcher.seen_seq)
                ended = not news and await self._database.read(has_ended, submission)
                if ended:  # perhaps between the two
                    news = await self._database.read(read_events, submission, watcher.seen_seq)
                for event in news:
                    watcher.seen_seq = event.seq
                    yield event
                    if event.kind is EventKind.FINISHED:
                        return
                if ended:
                    return
                await watcher.woken.wait()

    @contextlib.contextmanager
    def _subscribe(self, submission: SubmissionId, after_seq: int) -> Iterator[Watcher]:
        watcher = Watcher(submission, after_seq)
        self._watchers.add(watcher)
        if self._listener is None or self._listener.done():
            # Bound here and not in the task: from this line on no ring is missed.
            bell = self._bells.listen(EVENTS)
            self._listener = asyncio.create_task(self._listen(bell))
        try:
            yield watcher
        finally:
            self._watchers.discard(watcher)

    async def _listen(self, bell: Bell) -> None:
        with bell:
            while self._watchers:
                await bell.wait(self._poll_seconds)
                with contextlib.suppress(SQLAlchemyError):
                    await self._wake_those_with_news()

    async def _wake_those_with_news(self) -> None:
        wanted = {watcher.submission for watcher in self._watchers}
        if not wanted:
            return
        newest = await self._database.read(read_last_seqs, wanted)
        for watcher in self._watchers:
            if newest.get(watcher.submission) != watcher.seen_seq:
                watcher.woken.set()

    async def close(self) -> None:
        if self._listener is None:
            return
        self._listener.cancel()
        await asyncio.wait({self._listener})
