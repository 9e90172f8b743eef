"""Two versions of an exercise: a submission is judged by a grader that has its version, and by no other."""

import asyncio

import pytest
from ledger_parts import ANN, BOB, OpenLedger, cell, grade, hello

from graders.contract.events import EventKind
from graders.contract.jobs import Queue
from graders.contract.model import LearnerId, SubmissionId
from graders.contract.outcome_sentences import find_other_version
from graders.contract.results import Outcome, Verdict
from graders.ledger import Ledger, Policy, State
from graders.ledger.records import OtherVersion, Reconciled

OLD, NEW = "0000000000000001", "0000000000000002"


@pytest.fixture
def strict(open_one: OpenLedger) -> Ledger:
    """A ledger that waits for no grader to start."""
    return open_one(Policy(version_grace_seconds=-1.0))


async def offer(ledger: Ledger, has: dict[str, str], count: int) -> list[SubmissionId]:
    """The first submissions that a worker with these versions is offered."""
    offered: list[SubmissionId] = []
    stopping = asyncio.Event()

    async def handle(submission: SubmissionId) -> None:
        offered.append(submission)
        if len(offered) == count:
            stopping.set()
        await stopping.wait()

    async with asyncio.timeout(10):
        await ledger.dispatcher.worker(
            Queue.CPU, 8, handle, stopping, lambda _, exercise, digest: not digest or has.get(exercise) == digest
        )
    return offered


async def test_a_worker_is_offered_its_own_versions_and_what_asks_for_none(ledger: Ledger) -> None:
    await ledger.submit(ANN, "t1", grade(digest=NEW))
    mine = await ledger.submit(BOB, "t2", grade(digest=OLD))
    run = await ledger.submit(ANN, "t3", cell())
    unversioned = await ledger.submit(BOB, "t4", grade("halve"))

    assert set(await offer(ledger, {"double": OLD}, 3)) == {mine.id, run.id, unversioned.id}


async def test_many_of_another_version_stand_in_nobodys_way(open_one: OpenLedger) -> None:
    ledger = open_one(Policy(pending_cap=100, wait_limit_seconds=1000))
    for number in range(50):
        await ledger.submit(LearnerId(f"l{number}"), "t", grade(f"e{number}", digest=NEW))
    mine = await ledger.submit(BOB, "t", grade(digest=OLD))

    assert await offer(ledger, {"double": OLD}, 1) == [mine.id]


async def test_what_no_grader_has_ends_as_our_fault_that_names_the_exercise(strict: Ledger) -> None:
    await strict.say_hello(hello("w1", {"double": OLD}))
    await strict.say_hello(hello("w2", {"halve": OLD}))
    accepted = await strict.submit(ANN, "t", grade(digest=NEW))

    reconciled = await strict.reconcile()

    assert reconciled == Reconciled(unjudgeable=(OtherVersion("double", NEW, (OLD,), 1),))
    found = await strict.find(accepted.id)
    fault = Verdict(outcome=Outcome.GRADER_FAULT, exercise="double", finding=find_other_version("double"))
    assert (found.state, found.result) == (State.FINISHED, fault)
    assert (await strict.events_after(accepted.id, 0))[-1].kind is EventKind.FINISHED


@pytest.mark.parametrize("exercises", [{"double": NEW}, None])
async def test_what_one_grader_has_waits_for_it(strict: Ledger, exercises: dict[str, str] | None) -> None:
    await strict.say_hello(hello("old", {"double": OLD}))
    await strict.say_hello(hello("new", exercises))
    await strict.submit(ANN, "t", grade(digest=NEW))

    assert await strict.reconcile() == Reconciled()


async def test_where_no_grader_serves_a_submission_waits(strict: Ledger) -> None:
    await strict.submit(ANN, "t", grade(digest=NEW))

    assert await strict.reconcile() == Reconciled()


async def test_a_grader_that_starts_has_some_seconds_to_say_its_versions(ledger: Ledger) -> None:
    await ledger.say_hello(hello("old", {"double": OLD}))
    await ledger.submit(ANN, "t", grade(digest=NEW))

    assert await ledger.reconcile() == Reconciled()


async def test_a_grader_of_another_queue_does_not_count(strict: Ledger) -> None:
    await strict.say_hello(hello("cpu", {"double": OLD}))
    await strict.say_hello(hello("gpu", {"double": NEW}).model_copy(update={"queue": Queue.GPU}))
    await strict.submit(ANN, "t", grade(digest=NEW))

    assert len((await strict.reconcile()).unjudgeable) == 1
