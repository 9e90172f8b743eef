"""Which jobs a worker takes: in the order of their ranks, and never too many of those that are not proven."""

import asyncio
from dataclasses import dataclass, field

import pytest
from ledger_parts import ANN, cell

from graders.contract.jobs import Queue
from graders.contract.model import LearnerId, SubmissionId
from graders.ledger import Ledger, Origin

KNOWN = Origin(known_seconds=600.0)


@dataclass
class FakeHandle:
    """Holds every submission that it is given until the test lets them end."""

    ledger: Ledger
    taken: list[SubmissionId] = field(default_factory=list)
    took_one: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    ending: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, submission: SubmissionId) -> None:
        self.taken.append(submission)
        await self.ledger.claim(submission, "w1")
        self.took_one.release()
        await self.ending.wait()


async def take(ledger: Ledger, slots: int, expected: int) -> list[SubmissionId]:
    """What a worker has taken once it has `expected` of them and looked at the queue again."""
    handle, stopping = FakeHandle(ledger), asyncio.Event()
    working = asyncio.create_task(ledger.dispatcher.worker(Queue.CPU, slots, handle, stopping))
    async with asyncio.timeout(10):
        for _ in range(expected):
            await handle.took_one.acquire()
    for _ in range(5):
        ledger.dispatcher.wake(Queue.CPU)
        await asyncio.sleep(0.02)
    taken = list(handle.taken)
    stopping.set()
    handle.ending.set()
    await working
    return taken


@pytest.mark.parametrize(("slots", "held"), [(1, 1), (2, 1), (4, 2), (5, 2)])
async def test_a_flood_of_new_cookies_holds_half_of_the_slots_and_no_more(
    ledger: Ledger, slots: int, held: int
) -> None:
    for i in range(10):
        await ledger.submit(LearnerId(f"flood-{i}"), "t", cell())
    assert len(await take(ledger, slots, held)) == held


async def test_who_is_known_gets_a_slot_beside_a_flood(ledger: Ledger) -> None:
    flood = [await ledger.submit(LearnerId(f"flood-{i}"), "t", cell()) for i in range(10)]
    known = await ledger.submit(ANN, "t", cell(), origin=KNOWN)
    assert await take(ledger, 2, 2) == [known.id, flood[0].id]


async def test_those_who_are_known_may_have_all_slots(ledger: Ledger) -> None:
    known = [await ledger.submit(LearnerId(f"known-{i}"), "t", cell(), origin=KNOWN) for i in range(4)]
    assert await take(ledger, 4, 4) == [one.id for one in known]
