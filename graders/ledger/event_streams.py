"""The streams of one process: one listener and one query for all of them wake only the streams that have news."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

from graders.contract.events import Event, EventKind
from graders.contract.model import SubmissionId
from graders.ledger.database import Database
from graders.ledger.errors import StorageRefused
from graders.ledger.queries import has_ended, read_events, read_last_seqs
from graders.ledger.wakeups import EVENTS, Listener, Wakeups


@dataclass(eq=False)
class Watcher:
    """One open stream: the last event that it has shown, and the flag that wakes it."""

    submission: SubmissionId
    seen_seq: int
    woken: asyncio.Event = field(default_factory=asyncio.Event)


class Watch:
    """Listens for wake-ups while any stream is open."""

    def __init__(self, database: Database, wakeups: Wakeups, poll_seconds: float) -> None:
        self._database = database
        self._wakeups = wakeups
        self._poll_seconds = poll_seconds
        self._watchers: set[Watcher] = set()
        self._listening: asyncio.Task[None] | None = None
        self._ending = False

    async def follow(self, submission: SubmissionId, after_seq: int) -> AsyncIterator[Event]:
        """Subscribe, replay, then wait: in this order no event is missed. Ends after `finished`, also for a reader
        who has seen it already, or whose `after_seq` is higher than any event's number."""
        with self._subscribe(submission, after_seq) as watcher:
            while not self._ending:
                watcher.woken.clear()
                news = await self._database.read(read_events, submission, watcher.seen_seq)
                ended = not news and await self._database.read(has_ended, submission)
                if ended:  # it may have ended between the two reads
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
        if self._listening is None or self._listening.done():
            # The listener is made here and not in the task, so that no wake-up is missed from this line on.
            self._listening = asyncio.create_task(self._listen(self._wakeups.listen(EVENTS)))
        try:
            yield watcher
        finally:
            self._watchers.discard(watcher)

    async def _listen(self, listener: Listener) -> None:
        with contextlib.closing(listener):
            while self._watchers:
                await listener.wait(self._poll_seconds)
                with contextlib.suppress(StorageRefused):
                    await self._wake_those_with_news()

    async def _wake_those_with_news(self) -> None:
        wanted = {watcher.submission for watcher in self._watchers}
        if not wanted:
            return
        newest = await self._database.read(read_last_seqs, wanted)
        for watcher in self._watchers:
            if newest.get(watcher.submission) != watcher.seen_seq:
                watcher.woken.set()

    def end(self) -> None:
        """End every stream after the events that it is about to yield, even if its submission is not finished."""
        self._ending = True
        for watcher in self._watchers:
            watcher.woken.set()

    async def close(self) -> None:
        if self._listening is None:
            return
        self._listening.cancel()
        await asyncio.wait({self._listening})
