"""Streams: every event once and in order, however a reader comes and goes, woken or not."""

import asyncio
import time

import pytest
from ledger_parts import ANN, OpenLedger, cell, claim_now, grade
from sqlalchemy import Connection

from graders.contract.events import Event, EventKind
from graders.contract.results import Outcome, RunEnd, Verdict
from graders.ledger import Claim, Ledger, Policy
from graders.ledger.tables import events, submissions


async def collect(ledger: Ledger, submission: str, after_seq: int = 0) -> list[Event]:
    return [event async for event in ledger.follow(submission, after_seq)]


async def print_numbers(ledger: Ledger, claim: Claim, count: int) -> None:
    for number in range(count):
        await ledger.add_events(claim, [(EventKind.OUTPUT, str(number))])
    await ledger.finish(claim, RunEnd(outcome=Outcome.OK))


async def test_a_stream_shows_what_was_and_what_comes_and_ends_after_the_verdict(
    ledger: Ledger, open_one: OpenLedger
) -> None:
    reader = open_one(Policy(follow_poll_seconds=60))
    accepted = await ledger.submit(ANN, "t", cell())
    readers = [asyncio.create_task(collect(reader, accepted.id)) for _ in range(3)]
    await asyncio.sleep(0.02)
    await print_numbers(ledger, await claim_now(ledger, accepted.id), 20)
    async with asyncio.timeout(5):
        shown = await asyncio.gather(*readers)
    assert shown[0] == list(await ledger.events_after(accepted.id, 0))
    assert [event.seq for event in shown[0]] == list(range(1, 24))
    assert shown[1:] == shown[:1] * 2


async def test_a_stream_goes_on_where_it_was_cut(ledger: Ledger) -> None:
    accepted = await ledger.submit(ANN, "t", cell())
    running = asyncio.create_task(print_numbers(ledger, await claim_now(ledger, accepted.id), 30))
    seen: list[int] = []
    async with asyncio.timeout(10):
        while len(seen) < 33:
            async for event in ledger.follow(accepted.id, seen[-1] if seen else 0):
                seen.append(event.seq)
                if event.seq % 4 == 0:
                    break
    await running
    assert seen == list(range(1, 34))


async def test_a_new_event_wakes_a_stream_at_once(ledger: Ledger, open_one: OpenLedger) -> None:
    reader = open_one(Policy(follow_poll_seconds=60))
    accepted = await ledger.submit(ANN, "t", grade())
    reading = asyncio.create_task(collect(reader, accepted.id, after_seq=2))
    await asyncio.sleep(0.05)
    claim = await claim_now(ledger, accepted.id)
    started = time.perf_counter()
    await ledger.finish(claim, Verdict(outcome=Outcome.PASSED, exercise="double"))
    async with asyncio.timeout(5):
        assert [event.kind for event in await reading] == [EventKind.FINISHED]
    assert time.perf_counter() - started < 5


async def test_a_stream_that_is_not_woken_looks_by_itself(ledger: Ledger, open_one: OpenLedger) -> None:
    reader = open_one(Policy(follow_poll_seconds=0.1))
    accepted = await ledger.submit(ANN, "t", grade())
    reading = asyncio.create_task(collect(reader, accepted.id))
    await asyncio.sleep(0.02)

    def finish_silently(connection: Connection) -> None:
        # As a worker that died between its commit and the wake-up.
        ended = {"submission": accepted.id, "seq": 2, "kind": "finished", "body": "", "at": 0}
        connection.execute(events.insert().values(ended))
        this = submissions.update().where(submissions.c.id == accepted.id)
        connection.execute(this.values(last_seq=2, state="finished", result="{}"))

    await ledger.database.write(finish_silently)
    async with asyncio.timeout(5):
        assert [event.seq for event in await reading] == [1, 2]


async def test_the_stream_of_an_unknown_submission_ends_at_once(ledger: Ledger) -> None:
    async with asyncio.timeout(5):
        assert await collect(ledger, "nothing") == []


@pytest.mark.parametrize("beyond", [0, 1, 2**31 - 1 - 3])
async def test_the_stream_of_one_who_has_seen_the_end_ends_at_once(ledger: Ledger, beyond: int) -> None:
    accepted = await ledger.submit(ANN, "t", cell())
    await ledger.finish(await claim_now(ledger, accepted.id), RunEnd(outcome=Outcome.OK))
    async with asyncio.timeout(5):
        assert await collect(ledger, accepted.id, after_seq=3 + beyond) == []


async def test_a_reader_ahead_of_all_events_is_let_go_at_the_end(ledger: Ledger, open_one: OpenLedger) -> None:
    reader = open_one(Policy(follow_poll_seconds=60))
    accepted = await ledger.submit(ANN, "t", cell())
    waiting = asyncio.create_task(collect(reader, accepted.id, after_seq=1000))
    await asyncio.sleep(0.02)
    await print_numbers(ledger, await claim_now(ledger, accepted.id), 2)
    async with asyncio.timeout(5):
        assert await waiting == []


async def test_a_finished_submission_is_replayed_whole(ledger: Ledger) -> None:
    accepted = await ledger.submit(ANN, "t", cell())
    await print_numbers(ledger, await claim_now(ledger, accepted.id), 2)
    assert [event.seq for event in await collect(ledger, accepted.id)] == [1, 2, 3, 4, 5]
    assert [event.seq for event in await collect(ledger, accepted.id, after_seq=4)] == [5]


async def test_a_hundred_waiting_streams_pin_no_connection(ledger: Ledger) -> None:
    accepted = await ledger.submit(ANN, "t", cell())
    claim = await claim_now(ledger, accepted.id)
    readers = [asyncio.create_task(collect(ledger, accepted.id)) for _ in range(100)]
    await asyncio.sleep(0.3)
    async with asyncio.timeout(5):
        assert await ledger.find(accepted.id) is not None
        await ledger.finish(claim, RunEnd(outcome=Outcome.OK))
        assert {len(shown) for shown in await asyncio.gather(*readers)} == {3}
