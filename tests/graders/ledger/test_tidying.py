"""Reconciliation: nothing that was accepted stays without a verdict, and nothing gets two."""

import asyncio

from ledger_parts import ANN, OpenLedger, cell, claim_now, grade

from graders.contract.events import EventKind
from graders.contract.hello import WorkerHello
from graders.contract.jobs import Flavour, Queue
from graders.contract.results import Outcome, RunEnd, Verdict
from graders.ledger import Ledger, Policy, State, Tidied


async def test_what_a_dead_worker_left_is_queued_again(hasty: Ledger) -> None:
    accepted = await hasty.submit(ANN, "t", grade())
    await claim_now(hasty, accepted.id)
    assert await hasty.reconcile() == Tidied(requeued=1)
    assert (await hasty.find(accepted.id)).state is State.QUEUED


async def test_a_job_that_runs_is_left_alone(ledger: Ledger) -> None:
    accepted = await ledger.submit(ANN, "t", grade())
    await claim_now(ledger, accepted.id)
    assert await ledger.reconcile() == Tidied()


async def test_a_job_that_killed_three_workers_gets_our_fault_as_its_verdict(hasty: Ledger) -> None:
    accepted = await hasty.submit(ANN, "t", grade())
    tidied = []
    for _ in range(3):
        await claim_now(hasty, accepted.id)
        tidied.append(await hasty.reconcile())
    assert tidied == [Tidied(requeued=1), Tidied(requeued=1), Tidied(faulted=1)]
    found = await hasty.find(accepted.id)
    assert found.result.outcome is Outcome.GRADER_FAULT
    assert not found.result.outcome.costs_an_attempt
    assert (await hasty.events_after(accepted.id, 0))[-1].kind is EventKind.FINISHED
    assert await hasty.reconcile() == Tidied()


async def test_deaths_count_also_when_another_worker_claims_before_the_reconciliation(hasty: Ledger) -> None:
    accepted = await hasty.submit(ANN, "t", grade())
    for attempt in (1, 2, 3):
        assert (await claim_now(hasty, accepted.id)).attempt == attempt
    assert await hasty.claim(accepted.id, "fourth") is None
    assert await hasty.reconcile() == Tidied(faulted=1)


async def test_two_reconcilers_at_once_do_it_once(hasty: Ledger, open_one: OpenLedger) -> None:
    other = open_one(hasty.policy)
    accepted = [await hasty.submit(ANN, f"t{i}", cell()) for i in range(4)]
    for one in accepted:
        await claim_now(hasty, one.id)
    both = await asyncio.gather(hasty.reconcile(), other.reconcile())
    assert sorted(one.requeued for one in both) == [0, 4]


async def test_old_cells_and_looks_are_forgotten_with_their_events_submissions_never(open_one: OpenLedger) -> None:
    hasty = open_one(Policy(cell_retention_seconds=-1.0, prune_at_most=2))
    look = grade().model_copy(update={"public_only": True})
    cells = [await hasty.submit(ANN, f"t{i}", job) for i, job in enumerate((cell(), look, cell()))]
    for one in cells:
        await hasty.finish(await claim_now(hasty, one.id), RunEnd(outcome=Outcome.OK))
    waiting = await hasty.submit(ANN, "waiting", cell())
    graded = await hasty.submit(ANN, "graded", grade())
    await hasty.finish(await claim_now(hasty, graded.id), Verdict(outcome=Outcome.PASSED, exercise="double"))
    assert [(await hasty.reconcile()).pruned for _ in range(3)] == [2, 1, 0]
    assert [await hasty.find(one.id) for one in cells] == [None, None, None]
    assert await hasty.events_after(cells[0].id, 0) == ()
    assert (await hasty.find(waiting.id)).state is State.QUEUED
    assert len(await hasty.events_after(graded.id, 0)) == 3


async def test_fresh_cells_are_kept(ledger: Ledger) -> None:
    one = await ledger.submit(ANN, "t", cell())
    await ledger.finish(await claim_now(ledger, one.id), RunEnd(outcome=Outcome.OK))
    assert (await ledger.reconcile()).pruned == 0


def hello(name: str = "w1") -> WorkerHello:
    return WorkerHello(
        worker=name,
        queue=Queue.CPU,
        slots=2,
        flavours=(Flavour.PLAIN,),
        profile="P2",
        memory_cgroup=False,
        python="3.11",
        torch="none",
        device="cpu",
        self_test_passed=40,
        self_test_total=40,
    )


async def test_workers_are_listed_while_they_speak(open_one: OpenLedger) -> None:
    ledger = open_one(Policy(worker_silence_seconds=0.2))
    await ledger.say_hello(hello("w1"))
    await ledger.say_hello(hello("w1"))
    await ledger.say_hello(hello("w2"))
    assert [seen.hello for seen in await ledger.workers()] == [hello("w1"), hello("w2")]
    await ledger.say_goodbye("w2")
    assert [seen.hello.worker for seen in await ledger.workers()] == ["w1"]
    await asyncio.sleep(0.3)
    assert await ledger.workers() == ()


async def test_estimates_follow_recent_runs_and_the_slots_that_there_are(open_one: OpenLedger) -> None:
    ledger = open_one(Policy())
    await ledger.say_hello(hello())
    assert await ledger.estimate_seconds(Queue.CPU, 4) == 2.0
    assert await ledger.estimate_seconds(Queue.GPU, 4) == 4.0
