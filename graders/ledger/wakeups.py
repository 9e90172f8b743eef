"""Wake-ups: code that changed the ledger wakes the listeners of a topic, without saying what changed.

Wake-ups are for speed only. One may be lost, so every listener also reads the database from time to time. On one
machine datagrams deliver them, and between hosts PostgreSQL does.
"""

from typing import Protocol

from graders.contract.jobs import Queue

EVENTS = "events"
"""The topic of streams that follow submissions: there are new events."""
CANCEL = "cancel"
"""The topic of workers: a running submission was finished by something other than its worker."""


def queue_topic(queue: Queue) -> str:
    """The topic of the workers of a queue: a submission is waiting in it."""
    return f"queue-{queue}"


class Listener(Protocol):
    """Receives its topic's wake-ups from its creation until it is closed; several between two waits count as one."""

    async def wait(self, timeout_seconds: float) -> bool:
        """True if it was woken, False if the time ran out."""

    def close(self) -> None: ...


class Wakeups(Protocol):
    """The wake-ups of all processes that share a database."""

    def listen(self, topic: str) -> Listener: ...

    def wake(self, topic: str) -> None:
        """Wake every listener of the topic. Called after the commit; never blocks and never fails."""

    async def close(self) -> None:
        """Call it once, at the end: nobody is woken any more."""
