"""What every kind of wake-ups keeps, and whom each change of the ledger wakes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from fake_wakeups import FakeWakeups
from ledger_parts import ANN, cell, claim_now

from graders.contract.events import EventKind
from graders.contract.jobs import Queue
from graders.contract.model import SubmissionId
from graders.contract.results import Outcome, RunEnd
from graders.ledger import Database, Ledger, Policy
from graders.ledger.datagram_wakeups import DatagramWakeups
from graders.ledger.tables import metadata
from graders.ledger.wakeups import CANCEL, EVENTS, Wakeups, queue_topic

CPU = queue_topic(Queue.CPU)


@pytest.fixture(params=["datagrams", "fake"])
def wakeups(request: pytest.FixtureRequest, tmp_path: Path) -> Wakeups:
    return DatagramWakeups(tmp_path / ("deep" * 30) / "wakeups") if request.param == "datagrams" else FakeWakeups()


async def test_a_wake_up_reaches_every_listener_of_its_topic_and_no_other(wakeups: Wakeups) -> None:
    first, second, other = wakeups.listen("a"), wakeups.listen("a"), wakeups.listen("b")
    with closing(first), closing(second), closing(other):
        wakeups.wake("a")
        assert await first.wait(5)
        assert await second.wait(5)
        assert not await other.wait(0.02)


async def test_a_wake_up_before_the_wait_is_not_lost_and_many_are_one(wakeups: Wakeups) -> None:
    with closing(wakeups.listen("a")) as listener:
        for _ in range(1000):
            wakeups.wake("a")
        assert await listener.wait(5)
        assert not await listener.wait(0.02)


async def test_a_wait_that_was_given_up_loses_no_wake_up(wakeups: Wakeups) -> None:
    with closing(wakeups.listen("a")) as listener:
        waiting = asyncio.create_task(listener.wait(5))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait({waiting})
        wakeups.wake("a")
        assert await listener.wait(5)


@pytest.fixture
def woken() -> FakeWakeups:
    return FakeWakeups()


@pytest.fixture
async def ledger(tmp_path: Path, woken: FakeWakeups) -> AsyncIterator[Ledger]:
    policy = Policy(follow_poll_seconds=0.1, dispatch_poll_seconds=0.1)
    ledger = Ledger(Database(f"sqlite:///{tmp_path}/ledger.sqlite3"), woken, policy)
    await ledger.database.write(metadata.create_all)
    yield ledger
    await ledger.close()


async def test_a_submission_wakes_the_workers_of_its_queue_and_each_event_wakes_those_who_follow(
    ledger: Ledger, woken: FakeWakeups
) -> None:
    accepted = await ledger.submit(ANN, "t", cell())
    assert woken.woken == [CPU]
    claim = await claim_now(ledger, accepted.id)
    await ledger.add_events(claim, [(EventKind.OUTPUT, "1")])
    await ledger.finish(claim, RunEnd(outcome=Outcome.OK))
    assert woken.woken == [CPU, EVENTS, EVENTS, EVENTS]


async def test_a_released_submission_wakes_the_workers_again(ledger: Ledger, woken: FakeWakeups) -> None:
    claim = await claim_now(ledger, (await ledger.submit(ANN, "t", cell())).id)
    woken.woken.clear()

    await ledger.release(claim)

    assert woken.woken == [CPU]


async def test_a_withdrawn_submission_wakes_its_reader_and_its_worker(ledger: Ledger, woken: FakeWakeups) -> None:
    accepted = await ledger.submit(ANN, "t", cell())
    woken.woken.clear()

    await ledger.cancel(accepted.id, ANN)

    assert woken.woken == [EVENTS, CANCEL]


async def test_where_every_wake_up_is_lost_all_is_found_by_looking(ledger: Ledger, woken: FakeWakeups) -> None:
    woken.lost = True
    stopping = asyncio.Event()

    async def handle(submission: SubmissionId) -> None:
        await ledger.finish(await claim_now(ledger, submission), RunEnd(outcome=Outcome.OK))

    working = asyncio.create_task(ledger.dispatcher.worker(Queue.CPU, 1, handle, stopping))
    await asyncio.sleep(0.02)
    accepted = await ledger.submit(ANN, "t", cell())
    async with asyncio.timeout(10):
        kinds = [event.kind async for event in ledger.follow(accepted.id)]
    stopping.set()
    await working

    assert kinds == [EventKind.QUEUED, EventKind.STARTED, EventKind.FINISHED]
