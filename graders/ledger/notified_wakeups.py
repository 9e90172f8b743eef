"""Wake-ups between hosts through PostgreSQL's NOTIFY, on two connections of each process outside the pools.

A notification says which topic to wake, and nothing else. It is sent after the commit by a task of its own, because
a transaction that notifies takes a lock on the whole server; many wake-ups at once are one notification.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any, Final

from psycopg import AsyncConnection, Error

from graders.ledger.engines import open_listener_address

CHANNEL: Final = "unwind"
BETWEEN_SENDS_SECONDS: Final = 0.02
FIRST_PAUSE_SECONDS: Final = 0.2
MAX_PAUSE_SECONDS: Final = 5.0
_OPTIONS: Final[dict[str, Any]] = {
    "autocommit": True,
    "application_name": "unwind wake-ups",
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}
_log = logging.getLogger(__name__)


class NotifiedListener:
    """A flag that this process's receiving task sets."""

    def __init__(self, end: Callable[["NotifiedListener"], None], topic: str) -> None:
        self.topic = topic
        self.woken = asyncio.Event()
        self._end = end

    async def wait(self, timeout_seconds: float) -> bool:
        try:
            async with asyncio.timeout(timeout_seconds):
                await self.woken.wait()
        except TimeoutError:
            return False
        self.woken.clear()
        return True

    def close(self) -> None:
        self._end(self)


class NotifiedWakeups:
    """Connects when it is first used, and again whenever the server is back; until then its listeners poll."""

    def __init__(self, url: str) -> None:
        self._address = open_listener_address(url)
        self._listeners: set[NotifiedListener] = set()
        self._unsent: set[str] = set()
        self._has_unsent = asyncio.Event()
        self._all_sent = asyncio.Event()
        self._all_sent.set()
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def listen(self, topic: str) -> NotifiedListener:
        listener = NotifiedListener(self._listeners.discard, topic)
        self._listeners.add(listener)
        self._keep_running("receive", self._receive)
        return listener

    def wake(self, topic: str) -> None:
        self._unsent.add(topic)
        self._has_unsent.set()
        self._all_sent.clear()
        self._keep_running("send", self._send)

    async def close(self) -> None:
        """Send what is unsent, if the server answers within a second, and disconnect."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                await self._all_sent.wait()
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _keep_running(self, name: str, work: Callable[[AsyncConnection], Coroutine[Any, Any, None]]) -> None:
        if name not in self._tasks:
            # In a context of its own: what it logs is not about the request that happened to come first.
            self._tasks[name] = asyncio.create_task(self._stay_connected(work), context=Context())

    async def _stay_connected(self, work: Callable[[AsyncConnection], Coroutine[Any, Any, None]]) -> None:
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                async with await AsyncConnection.connect(self._address, **_OPTIONS) as connection:
                    pause = FIRST_PAUSE_SECONDS
                    await work(connection)
            except (Error, OSError) as error:
                _log.warning("No wake-ups through PostgreSQL just now (%s): polling until it is back.", error)
            await asyncio.sleep(pause)
            pause = min(2 * pause, MAX_PAUSE_SECONDS)

    async def _receive(self, connection: AsyncConnection) -> None:
        await connection.execute(f"LISTEN {CHANNEL}")
        # What was sent while nobody here listened is lost, so everybody looks once.
        self._wake_here(self._listeners)
        async for notification in connection.notifies():
            self._wake_here({one for one in self._listeners if one.topic == notification.payload})

    def _wake_here(self, listeners: set[NotifiedListener]) -> None:
        for listener in listeners:
            listener.woken.set()

    async def _send(self, connection: AsyncConnection) -> None:
        while True:
            await self._has_unsent.wait()
            for topic in sorted(self._unsent):
                # If the connection is lost here, the topic stays unsent, and the next connection sends it.
                await connection.execute("SELECT pg_notify(%s, %s)", (CHANNEL, topic))
                self._unsent.discard(topic)
            if not self._unsent:
                self._has_unsent.clear()
                self._all_sent.set()
            await asyncio.sleep(BETWEEN_SENDS_SECONDS)
