"""Two websites and two workers on one database: what holds for one writer holds for several, on each database."""

import asyncio
import re
import threading
from contextvars import ContextVar

import pytest
from ledger_parts import ANN, OpenLedger, cell, claim_now, grade
from postgresql_server import Server
from sqlalchemy import Connection, delete, func, insert, select
from sqlalchemy.exc import DBAPIError

from graders.contract.jobs import Queue
from graders.contract.results import Outcome, Verdict
from graders.ledger import Database, Ledger, Policy, StorageRefused, TooManyPending
from graders.ledger.locks import take_lock, try_lock
from graders.ledger.notified_wakeups import NotifiedWakeups
from graders.ledger.records import State
from graders.ledger.tables import submissions, workers
from graders.ledger.wakeups import EVENTS, queue_topic

TWICE_OVER = [0, 1] * 10
FAR_SECONDS = 60.0
on_postgresql = pytest.mark.parametrize(
    "database_url", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True
)


async def try_to_submit(ledger: Ledger, key: str) -> str | None:
    try:
        return (await ledger.submit(ANN, key, cell())).id
    except TooManyPending:
        return None


async def test_a_learner_who_submits_from_two_websites_at_once_has_no_more_than_the_cap(open_one: OpenLedger) -> None:
    sites = [open_one(Policy(pending_cap=3)), open_one(Policy(pending_cap=3))]
    made = await asyncio.gather(*(try_to_submit(sites[which], f"t{i}") for i, which in enumerate(TWICE_OVER)))
    assert sum(one is not None for one in made) == 3


async def test_one_key_at_two_websites_is_one_submission(open_one: OpenLedger) -> None:
    sites = [open_one(Policy()), open_one(Policy())]
    made = await asyncio.gather(*(sites[which].submit(ANN, "same", grade()) for which in TWICE_OVER))
    assert len({one.id for one in made}) == 1
    assert sum(not one.already for one in made) == 1


async def test_an_answer_is_superseded_or_claimed_and_never_both(open_one: OpenLedger) -> None:
    site, worker = open_one(Policy(pending_cap=100)), open_one(Policy())
    for i in range(8):
        first = await site.submit(ANN, f"first-{i}", grade())
        claim, _ = await asyncio.gather(worker.claim(first.id, "w1"), site.submit(ANN, f"second-{i}", grade()))
        found = await site.find(first.id)
        assert found is not None
        assert (found.state is State.RUNNING) is (claim is not None)
        outcome = None if found.result is None else found.result.outcome
        assert outcome is (None if claim is not None else Outcome.SUPERSEDED)


async def test_one_of_many_claims_gets_the_job(open_one: OpenLedger) -> None:
    graders = [open_one(Policy()), open_one(Policy())]
    accepted = await graders[0].submit(ANN, "t", cell())
    claims = await asyncio.gather(*(graders[which].claim(accepted.id, f"w{which}") for which in TWICE_OVER))
    assert sum(claim is not None for claim in claims) == 1


async def test_two_reconcilers_at_once_count_a_lost_worker_once(open_one: OpenLedger) -> None:
    hasty = Policy(lease_seconds=-1.0)
    both = [open_one(hasty), open_one(hasty)]
    accepted = await both[0].submit(ANN, "t", cell())
    await claim_now(both[0], accepted.id)
    done = await asyncio.gather(*(both[which].reconcile() for which in TWICE_OVER))
    assert sum(one.requeued for one in done) == 1
    query = select(submissions.c.lost_workers)
    assert await both[0].database.read(lambda connection: connection.execute(query).scalar_one()) == 1


def add_one_if_fewer_than_five(connection: Connection, name: str) -> None:
    """As a transaction does that knows nothing of others: it counts, then acts on what it counted."""
    if connection.execute(select(func.count()).select_from(workers)).scalar_one() < 5:
        row = {"worker": name, "queue": "cpu", "slots": 1, "hello": "{}", "seen_at": 0.0}
        connection.execute(insert(workers).values(row))


async def test_transactions_that_know_nothing_of_each_other_act_as_if_one_came_after_the_other(
    database_url: str,
) -> None:
    databases = [Database(database_url), Database(database_url)]
    await asyncio.gather(
        *(databases[which].write(add_one_if_fewer_than_five, f"w{i}") for i, which in enumerate(TWICE_OVER))
    )
    count = select(func.count()).select_from(workers)
    assert await databases[0].read(lambda connection: connection.execute(count).scalar_one()) == 5
    for database in databases:
        await database.close()


async def test_a_reader_cannot_write(database_url: str) -> None:
    database = Database(database_url)
    with pytest.raises((StorageRefused, DBAPIError)) as refusal:
        await database.read(lambda connection: connection.execute(delete(workers)))
    assert re.search("read-?only", getattr(refusal.value, "reason", str(refusal.value)))
    await database.close()


@on_postgresql
async def test_a_lock_that_somebody_holds_is_not_taken_and_is_free_after_their_transaction(database_url: str) -> None:
    database, held, release = Database(database_url), threading.Event(), threading.Event()

    def hold(connection: Connection) -> None:
        take_lock(connection, "this")
        held.set()
        assert release.wait(10)

    holding = asyncio.create_task(database.write_guarded(hold))
    await asyncio.to_thread(held.wait)
    assert not await database.write_guarded(try_lock, "this")
    assert await database.write_guarded(try_lock, "that")
    release.set()
    await holding
    assert await database.write_guarded(try_lock, "this")
    await database.close()


@on_postgresql
async def test_a_submission_at_one_host_wakes_the_workers_of_another(open_one: OpenLedger) -> None:
    site, worker = open_one(Policy()), open_one(Policy(dispatch_poll_seconds=FAR_SECONDS))
    stopping, taken = asyncio.Event(), asyncio.Event()

    async def handle(submission: str) -> None:
        assert await worker.claim(submission, "w1") is not None
        taken.set()

    working = asyncio.create_task(worker.dispatcher.worker(Queue.CPU, 1, handle, stopping))
    # The worker has read the empty queue, and listens.
    await wait_for_listeners(site, 1)
    await site.submit(ANN, "t", cell())
    async with asyncio.timeout(10):
        await taken.wait()
    stopping.set()
    await working


async def wait_for_listeners(ledger: Ledger, count: int) -> None:
    for _ in range(200):
        if await ledger.database.read(_count_listeners) >= count:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("nobody listens")


def _count_listeners(connection: Connection) -> int:
    """The connections of this database whose last statement was LISTEN."""
    query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%%'"
    found: int = connection.exec_driver_sql(query).scalar_one()
    return found


@on_postgresql
async def test_wake_ups_come_back_after_the_server_crashed_and_started_again(
    open_one: OpenLedger, postgresql: Server
) -> None:
    site, grader = open_one(Policy()), open_one(Policy())
    listener = grader._wakeups.listen(EVENTS)
    await wait_for_listeners(site, 1)
    accepted = await site.submit(ANN, "t", grade())
    await claim_now(site, accepted.id)
    assert await listener.wait(10)

    await asyncio.to_thread(postgresql.stop)
    with pytest.raises((StorageRefused, DBAPIError)):
        await site.submit(ANN, "u", grade("other"))
    await asyncio.to_thread(postgresql.start)

    # Connected again, each listener looks once, because it may have missed something.
    assert await listener.wait(20)
    await wait_for_listeners(site, 1)
    await listener.wait(0.05)
    assert await site.cancel(accepted.id, ANN)
    assert await listener.wait(10)
    listener.close()


@on_postgresql
async def test_a_verdict_at_one_host_reaches_the_stream_at_another(open_one: OpenLedger) -> None:
    site, grader = open_one(Policy(follow_poll_seconds=FAR_SECONDS)), open_one(Policy())
    accepted = await site.submit(ANN, "t", grade())
    seen: list[str] = []

    async def follow() -> None:
        async for event in site.follow(accepted.id):
            seen.append(event.kind)

    reading = asyncio.create_task(follow())
    await wait_for_listeners(site, 1)
    claim = await claim_now(grader, accepted.id)
    await grader.finish(claim, Verdict(outcome=Outcome.PASSED, exercise="double"))
    async with asyncio.timeout(10):
        await reading
    assert seen == ["queued", "started", "finished"]


async def test_the_task_that_keeps_a_connection_for_wake_ups_is_about_no_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    request: ContextVar[str] = ContextVar("request", default="none")
    seen: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def connect(address: str, **options: object) -> None:
        seen.set_result(request.get())
        await asyncio.Event().wait()

    monkeypatch.setattr("graders.ledger.notified_wakeups.AsyncConnection.connect", connect)
    wakeups = NotifiedWakeups("postgresql://db/unwind")
    request.set("the one that came first")
    listener = wakeups.listen(queue_topic(Queue.CPU))
    assert await seen == "none"
    listener.close()
    await wakeups.close()
