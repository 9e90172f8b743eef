"""On PostgreSQL a queued submission has one ticket: written with its row, taken by one worker, replaced when lost."""

import asyncio
from collections.abc import Callable

import pytest
from ledger_parts import ANN, BOB, OpenLedger, cell, grade
from postgresql_server import Server
from sqlalchemy import Connection, text

from graders.contract.jobs import Queue
from graders.contract.model import LearnerId, SubmissionId
from graders.ledger import Claim, Ledger, Origin, Policy, TooManyPending
from graders.ledger.engines import POOL_TIMEOUT_SECONDS, open_pool
from graders.ledger.queue_reader import CanJudge
from graders.ledger.tickets import sweep_tickets

pytestmark = pytest.mark.parametrize(
    "database_url", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True
)
KNOWN = Origin(known_seconds=600.0)
READ = text(
    "SELECT args ->> 'submission', queue_name, status::text FROM procrastinate_jobs ORDER BY priority DESC, id"
)


def run_sql(sql: str) -> Callable[[Connection], None]:
    return lambda connection: connection.exec_driver_sql(sql) and None


async def read_tickets(ledger: Ledger) -> list[tuple[str, str, str]]:
    return [tuple(row) for row in await ledger.database.read(lambda connection: connection.execute(READ).all())]


async def serve(ledger: Ledger, expected: int, can_judge: CanJudge | None = None) -> list[Claim]:
    """What one worker claims until it has `expected`. It runs none of them."""
    claimed: list[Claim] = []
    stopping = asyncio.Event()

    async def handle(submission: SubmissionId) -> None:
        claim = await ledger.claim(submission, "w1")
        if claim is not None:
            claimed.append(claim)
        if len(claimed) == expected:
            stopping.set()

    async with asyncio.timeout(20):
        await ledger.dispatcher.worker(Queue.CPU, 4, handle, stopping, can_judge)
    return claimed


async def test_a_ticket_is_written_with_its_row_in_the_queue_of_its_lane(ledger: Ledger) -> None:
    new = await ledger.submit(ANN, "t", cell())
    known = await ledger.submit(BOB, "t", grade(), origin=KNOWN)
    card = await ledger.submit(LearnerId("cy"), "t", grade(), Queue.GPU, KNOWN)
    assert await read_tickets(ledger) == [
        (known.id, "cpu", "todo"),
        (card.id, "gpu", "todo"),
        (new.id, "cpu-unproven", "todo"),
    ]


async def test_what_is_refused_leaves_no_ticket(ledger: Ledger) -> None:
    for i in range(3):
        await ledger.submit(ANN, f"t{i}", cell())
    with pytest.raises(TooManyPending):
        await ledger.submit(ANN, "t4", cell())
    assert len(await read_tickets(ledger)) == 3


async def test_a_worker_deletes_the_tickets_that_it_takes_and_drops_one_whose_submission_has_ended(
    ledger: Ledger,
) -> None:
    first = await ledger.submit(ANN, "t1", cell(), origin=KNOWN)
    second = await ledger.submit(BOB, "t2", cell(), origin=KNOWN)
    assert await ledger.cancel(first.id, ANN)
    assert [claim.id for claim in await serve(ledger, 1)] == [second.id]
    assert await read_tickets(ledger) == []


FORGED = (
    "{}",
    "[]",
    "7",
    "null",
    '"x"',
    '{"submission": 7}',
    '{"submission": "x"}',
    '{"submission": "x", "exercise": []}',
)


async def test_a_ticket_that_no_ledger_wrote_is_dropped_and_the_worker_goes_on(ledger: Ledger) -> None:
    into = "INSERT INTO procrastinate_jobs (queue_name, task_name, priority, args)"
    forge = f"{into} VALUES ('cpu', 'look', 32000, '%s')"
    for said in FORGED:
        await ledger.database.write(run_sql(forge.replace("%s", said)))
    real = await ledger.submit(BOB, "t", cell(), origin=KNOWN)
    claimed = await serve(ledger, 1, lambda *_: True)
    assert [claim.id for claim in claimed] == [real.id]
    assert await read_tickets(ledger) == []


async def test_two_workers_share_the_queue_and_no_submission_is_taken_twice(open_one: OpenLedger) -> None:
    site, workers = open_one(Policy(pending_cap=100)), [open_one(Policy()), open_one(Policy())]
    made = {(await site.submit(LearnerId(f"l{i}"), "t", cell(), origin=KNOWN)).id for i in range(20)}
    taken: list[SubmissionId] = []
    stopping = asyncio.Event()

    async def handle(submission: SubmissionId) -> None:
        taken.append(submission)
        await site.claim(submission, "w")
        if len(taken) == len(made):
            stopping.set()

    async with asyncio.timeout(20):
        await asyncio.gather(*(one.dispatcher.worker(Queue.CPU, 2, handle, stopping) for one in workers))
    assert sorted(taken) == sorted(made)


async def test_a_released_submission_has_a_ticket_again_before_its_equals(ledger: Ledger) -> None:
    first = await ledger.submit(ANN, "t", cell(), origin=KNOWN)
    (claim,) = await serve(ledger, 1)
    later = await ledger.submit(BOB, "t", cell(), origin=KNOWN)
    assert await ledger.release(claim)
    assert [ticket[0] for ticket in await read_tickets(ledger)] == [first.id, later.id]


@pytest.mark.parametrize(
    "loss",
    [
        "DELETE FROM procrastinate_jobs",
        "UPDATE procrastinate_jobs SET status = 'doing'; UPDATE procrastinate_events SET at = now() - interval '31s'",
    ],
)
async def test_a_lost_ticket_is_written_again_by_the_next_reconciliation(ledger: Ledger, loss: str) -> None:
    accepted = await ledger.submit(ANN, "t", cell(), origin=KNOWN)
    await ledger.database.write(run_sql(loss))
    await ledger.reconcile()
    assert await read_tickets(ledger) == [(accepted.id, "cpu", "todo")]
    assert [claim.id for claim in await serve(ledger, 1)] == [accepted.id]


async def test_a_ticket_that_a_worker_just_took_is_not_replaced(ledger: Ledger) -> None:
    await ledger.submit(ANN, "t", cell(), origin=KNOWN)
    await ledger.database.write(run_sql("UPDATE procrastinate_jobs SET status = 'doing'"))
    assert await ledger.database.write(sweep_tickets) == 0
    assert [ticket[2] for ticket in await read_tickets(ledger)] == ["doing"]


async def test_a_worker_goes_on_after_the_server_crashed_and_started_again(
    ledger: Ledger, postgresql: Server
) -> None:
    first = await ledger.submit(ANN, "t1", cell(), origin=KNOWN)
    taken: asyncio.Queue[SubmissionId] = asyncio.Queue()
    stopping = asyncio.Event()
    working = asyncio.create_task(ledger.dispatcher.worker(Queue.CPU, 2, taken.put, stopping))
    async with asyncio.timeout(30):
        assert await taken.get() == first.id
        await asyncio.to_thread(postgresql.stop)
        await asyncio.to_thread(postgresql.start)
        second = await ledger.submit(BOB, "t2", cell(), origin=KNOWN)
        while await taken.get() != second.id:  # the first one's ticket may come twice
            pass
        stopping.set()
        await working


async def test_however_long_the_server_was_away_the_pause_before_the_next_try_stays_short(database_url: str) -> None:
    """It doubles with each failure until `reconnect_timeout`: a worker whose pool had 300 s was deaf for minutes."""
    assert open_pool(database_url).reconnect_timeout <= POOL_TIMEOUT_SECONDS


async def test_what_the_engine_noted_of_a_ticket_that_waits_is_forgotten_after_an_hour(ledger: Ledger) -> None:
    accepted = await ledger.submit(ANN, "t", cell(), origin=KNOWN)
    old = "SELECT id, 'started', now() - interval '61 minutes' FROM procrastinate_jobs, generate_series(1, 100)"
    await ledger.database.write(run_sql(f"INSERT INTO procrastinate_events (job_id, type, at) {old}"))
    await ledger.prune()
    count = text("SELECT count(*) FROM procrastinate_events")
    assert await ledger.database.read(lambda connection: connection.execute(count).scalar_one()) == 1
    assert await read_tickets(ledger) == [(accepted.id, "cpu", "todo")]
