"""The wake-up seam: whoever changed the ledger wakes those who wait for it, and never says what changed.

A wake-up makes things quick and is never what makes them right: it may be lost, so whoever waits also looks at the
database from time to time. On one machine `datagrams` carries them.
"""

from typing import Protocol

from graders.contract.jobs import Queue

EVENTS = "events"
"""The topic of those who follow submissions: there are new events."""
CANCEL = "cancel"
"""The topic of workers: someone other than its worker finished a running submission."""


def queue_topic(queue: Queue) -> str:
    """The topic of the workers of a queue: a submission waits in it."""
    return f"queue-{queue}"


class Listener(Protocol):
    """Hears its topic from the moment it is made until it is closed; wake-ups between two waits count as one."""

    async def wait(self, timeout_seconds: float) -> bool:
        """True: it was woken. False: the time is up."""

    def close(self) -> None: ...


class Wakeups(Protocol):
    """The wake-ups of all processes that share a database."""

    def listen(self, topic: str) -> Listener: ...

    def wake(self, topic: str) -> None:
        """Wake every listener of the topic. Called after the commit; never blocks and never fails."""
