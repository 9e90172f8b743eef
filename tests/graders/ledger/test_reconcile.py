"""Reconciliation: nothing that was accepted stays without a verdict, and nothing gets two."""

import asyncio

from ledger_parts import ANN, OpenLedger, cell, claim_now, grade
from sqlalchemy import Connection, select, update

from graders.contract.events import EventKind
from graders.contract.results import Outcome, RunEnd, Verdict
from graders.ledger import Ledger, Origin, Policy, Pruned, Reconciled, State
from graders.ledger.fairness import RECENT_SECONDS
from graders.ledger.tables import events, submissions


async def test_what_a_lost_worker_left_is_queued_again(hasty: Ledger) -> None:
    accepted = await hasty.submit(ANN, "t", grade())
    await claim_now(hasty, accepted.id)
    assert await hasty.reconcile() == Reconciled(requeued=1)
    assert (await hasty.find(accepted.id)).state is State.QUEUED


async def test_a_job_that_runs_is_left_alone(ledger: Ledger) -> None:
    accepted = await ledger.submit(ANN, "t", grade())
    await claim_now(ledger, accepted.id)
    assert await ledger.reconcile() == Reconciled()


async def test_a_job_that_lost_three_workers_gets_our_fault_as_its_verdict(hasty: Ledger) -> None:
    accepted = await hasty.submit(ANN, "t", grade())
    reconciled = []
    for _ in range(3):
        await claim_now(hasty, accepted.id)
        reconciled.append(await hasty.reconcile())
    assert reconciled == [Reconciled(requeued=1), Reconciled(requeued=1), Reconciled(faulted=1)]
    found = await hasty.find(accepted.id)
    assert found.result.outcome is Outcome.GRADER_FAULT
    assert not found.result.outcome.costs_an_attempt
    assert (await hasty.events_after(accepted.id, 0))[-1].kind is EventKind.FINISHED
    assert await hasty.reconcile() == Reconciled()


async def test_a_lost_worker_counts_also_when_another_claims_before_the_reconciliation(hasty: Ledger) -> None:
    accepted = await hasty.submit(ANN, "t", grade())
    for number in (1, 2, 3):
        assert (await claim_now(hasty, accepted.id)).claim_number == number
    assert await hasty.claim(accepted.id, "fourth") is None
    assert await hasty.reconcile() == Reconciled(faulted=1)


async def test_two_reconcilers_at_once_do_it_once(hasty: Ledger, open_one: OpenLedger) -> None:
    other = open_one(hasty.policy)
    accepted = [await hasty.submit(ANN, f"t{i}", cell()) for i in range(4)]
    for one in accepted:
        await claim_now(hasty, one.id)
    both = await asyncio.gather(hasty.reconcile(), other.reconcile())
    assert sorted(one.requeued for one in both) == [0, 4]


async def test_old_cells_and_public_checks_are_forgotten_and_submissions_never(
    open_one: OpenLedger,
) -> None:
    hasty = open_one(Policy(cell_retention_seconds=-1.0, prune_at_most=2))
    check = grade().model_copy(update={"public_only": True})
    cells = [await hasty.submit(ANN, f"t{i}", job) for i, job in enumerate((cell(), check, cell()))]
    for one in cells:
        await hasty.finish(await claim_now(hasty, one.id), RunEnd(outcome=Outcome.OK))
    waiting = await hasty.submit(ANN, "waiting", cell())
    graded = await hasty.submit(ANN, "answers", grade())
    await hasty.finish(await claim_now(hasty, graded.id), Verdict(outcome=Outcome.PASSED, exercise="double"))
    assert [(await hasty.prune()).submissions for _ in range(3)] == [2, 1, 0]
    assert [await hasty.find(one.id) for one in cells] == [None, None, None]
    assert await hasty.events_after(cells[0].id, 0) == ()
    assert (await hasty.find(waiting.id)).state is State.QUEUED
    assert len(await hasty.events_after(graded.id, 0)) == 3


async def test_old_events_are_forgotten_but_for_the_end_and_the_verdict_stays(open_one: OpenLedger) -> None:
    hasty = open_one(Policy(event_retention_seconds=-1.0, prune_at_most=100))
    waiting, graded = await hasty.submit(ANN, "waiting", cell()), await hasty.submit(ANN, "answers", grade())
    verdict = Verdict(outcome=Outcome.PASSED, exercise="double", stdout="printed")
    said = [(EventKind.OUTPUT, '{"stream":"stdout","text":"printed"}'), (EventKind.CASE, "{}")]
    await hasty.finish(await claim_now(hasty, graded.id), verdict, said)
    assert (await hasty.prune()).events == 4
    assert await hasty.prune() == Pruned()
    (end,) = await hasty.events_after(graded.id, 0)
    assert (end.kind, end.seq, end.body) == (EventKind.FINISHED, 5, verdict.model_dump_json())
    assert [event.kind async for event in hasty.follow(graded.id, 2)] == [EventKind.FINISHED]
    assert (await hasty.find(graded.id)).result == verdict
    assert [event.kind for event in await hasty.events_after(waiting.id, 0)] == [EventKind.QUEUED]


async def test_the_end_of_a_submission_repeats_nothing_of_its_verdict(ledger: Ledger) -> None:
    graded = await ledger.submit(ANN, "t", grade())
    await ledger.finish(await claim_now(ledger, graded.id), Verdict(outcome=Outcome.PASSED, exercise="double"))

    def read_bodies(connection: Connection) -> list[str]:
        return list(connection.execute(select(events.c.body).where(events.c.kind == "finished")).scalars())

    assert await ledger.database.read(read_bodies) == [""]


async def test_where_a_job_came_from_is_forgotten_minutes_after_it_ended(ledger: Ledger) -> None:
    def read_keys(connection: Connection) -> list[str | None]:
        return list(connection.execute(select(submissions.c.address_key).order_by(submissions.c.number)).scalars())

    def let_time_pass(connection: Connection) -> None:
        connection.execute(update(submissions).values(finished_at=submissions.c.finished_at - RECENT_SECONDS - 1))

    ended = await ledger.submit(ANN, "t1", grade(), origin=Origin("key"))
    await ledger.submit(ANN, "t2", cell(), origin=Origin("key"))
    await ledger.finish(await claim_now(ledger, ended.id), Verdict(outcome=Outcome.PASSED, exercise="double"))
    await ledger.prune()
    assert await ledger.database.read(read_keys) == ["key", "key"]
    await ledger.database.write(let_time_pass)
    await ledger.prune()
    assert await ledger.database.read(read_keys) == [None, "key"]


async def test_fresh_cells_are_kept(ledger: Ledger) -> None:
    one = await ledger.submit(ANN, "t", cell())
    await ledger.finish(await claim_now(ledger, one.id), RunEnd(outcome=Outcome.OK))
    assert (await ledger.prune()).submissions == 0
