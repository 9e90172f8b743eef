"""What the ledger lets in, and in which order it will run."""

import asyncio

import pytest
from ledger_parts import ANN, BOB, OpenLedger, cell, claim_now, grade, hello
from sqlalchemy import Connection, update

from graders.contract.events import EventKind
from graders.contract.jobs import Queue
from graders.contract.model import LearnerId, SubmissionId
from graders.contract.results import Outcome, RunEnd, Verdict
from graders.ledger import AddressBusy, Ledger, Origin, Policy, QueueFull, State, TooManyPending
from graders.ledger.tables import submissions


async def test_the_same_key_gets_the_same_submission_and_runs_once(ledger: Ledger) -> None:
    first = await ledger.submit(ANN, "t1", grade())
    again = await ledger.submit(ANN, "t1", grade(source="another text"))
    assert (again.id, again.already) == (first.id, True)
    assert (await ledger.depth(Queue.CPU)).queued == 1


async def test_a_known_key_is_answered_even_when_nothing_new_is_let_in(ledger: Ledger) -> None:
    accepted = [await ledger.submit(ANN, f"t{i}", cell()) for i in range(3)]
    assert (await ledger.submit(ANN, "t0", cell())).id == accepted[0].id


async def test_keys_of_two_learners_do_not_meet(ledger: Ledger) -> None:
    assert (await ledger.submit(ANN, "t", grade())).id != (await ledger.submit(BOB, "t", grade())).id


async def test_one_key_sent_twenty_times_at_once_is_one_submission(ledger: Ledger, open_one: OpenLedger) -> None:
    other = open_one(Policy(pending_cap=3))
    sent = [door.submit(ANN, "t", grade()) for door in (ledger, other) for _ in range(10)]
    accepted = await asyncio.gather(*sent)
    assert len({one.id for one in accepted}) == 1
    assert sum(not one.already for one in accepted) == 1


async def test_the_pending_cap_holds_under_concurrent_submits(ledger: Ledger, open_one: OpenLedger) -> None:
    other = open_one(Policy(pending_cap=3))
    sent = [door.submit(ANN, f"t{i}-{id(door)}", cell()) for door in (ledger, other) for i in range(10)]
    answers = await asyncio.gather(*sent, return_exceptions=True)
    refused = [answer for answer in answers if isinstance(answer, TooManyPending)]
    assert len(refused) == 17
    assert (await ledger.depth(Queue.CPU)).queued == 3


async def test_a_finished_submission_frees_its_place_under_the_cap(ledger: Ledger) -> None:
    accepted = [await ledger.submit(ANN, f"t{i}", grade(f"e{i}")) for i in range(3)]
    claim = await claim_now(ledger, accepted[0].id)
    with pytest.raises(TooManyPending):
        await ledger.submit(ANN, "t3", grade("e3"))
    await ledger.finish(claim, Verdict(outcome=Outcome.PASSED, exercise=claim.job.exercise))
    await ledger.submit(ANN, "t3", grade("e3"))


async def test_a_newer_submission_to_an_exercise_supersedes_the_waiting_one(ledger: Ledger) -> None:
    old = await ledger.submit(ANN, "t1", grade())
    new = await ledger.submit(ANN, "t2", grade())
    superseded = await ledger.find(old.id)
    assert superseded.state is State.FINISHED
    assert superseded.result.outcome is Outcome.SUPERSEDED
    assert [event.kind for event in await ledger.events_after(old.id, 0)] == [EventKind.QUEUED, EventKind.FINISHED]
    assert (await ledger.find(new.id)).state is State.QUEUED


async def test_a_running_submission_and_cells_are_never_superseded(ledger: Ledger) -> None:
    running = await ledger.submit(ANN, "t1", grade())
    await claim_now(ledger, running.id)
    waiting_cell = await ledger.submit(ANN, "t2", cell())
    await ledger.submit(ANN, "t3", grade())
    assert (await ledger.find(running.id)).state is State.RUNNING
    assert (await ledger.find(waiting_cell.id)).state is State.QUEUED


async def test_an_idle_run_replaces_the_one_that_waits_and_nothing_else(ledger: Ledger) -> None:
    waited_for = await ledger.submit(ANN, "t1", cell())
    old = await ledger.submit(ANN, "t2", cell(), idle=True)
    new = await ledger.submit(ANN, "t3", cell(), idle=True)

    assert (await ledger.find(old.id)).result.outcome is Outcome.SUPERSEDED
    for kept in (waited_for, new):
        assert (await ledger.find(kept.id)).state is State.QUEUED
    await ledger.submit(BOB, "t1", cell(), idle=True)
    assert (await ledger.find(new.id)).state is State.QUEUED


async def test_idle_runs_take_no_place_under_the_cap_and_run_last(ledger: Ledger) -> None:
    idle = await ledger.submit(ANN, "t0", cell(), idle=True)
    for i in range(3):
        await ledger.submit(ANN, f"e{i}", grade(f"e{i}"))
    with pytest.raises(TooManyPending):
        await ledger.submit(ANN, "e3", grade("e3"))

    place = await ledger.find_position(idle.id)

    assert place is not None
    assert place.ahead == 3


async def test_an_idle_run_that_would_come_late_is_refused(ledger: Ledger) -> None:
    for i in range(3):
        await ledger.submit(LearnerId(f"l{i}"), "t", cell())

    with pytest.raises(QueueFull):
        await ledger.submit(ANN, "t", cell(), idle=True)


async def test_a_submission_supersedes_even_at_the_cap(ledger: Ledger) -> None:
    for i in range(3):
        await ledger.submit(ANN, f"t{i}", grade(f"e{i}"))
    await ledger.submit(ANN, "t3", grade("e2"))
    assert (await ledger.depth(Queue.CPU)).queued == 3


KNOWN = Origin(known_seconds=600.0)


async def find_ahead(ledger: Ledger, submission: SubmissionId) -> int | None:
    position = await ledger.find_position(submission)
    return None if position is None else position.ahead


async def test_who_waits_with_little_comes_before_who_waits_with_much(open_one: OpenLedger) -> None:
    ledger = open_one(Policy(pending_cap=100))
    many = [await ledger.submit(ANN, f"t{i}", cell(), origin=KNOWN) for i in range(10)]
    one = await ledger.submit(BOB, "t", cell(), origin=KNOWN)
    assert one.ahead == 1
    assert [await find_ahead(ledger, each.id) for each in (many[0], one, many[1])] == [0, 1, 2]


async def test_a_submission_that_counts_runs_before_checks_and_these_before_cells(ledger: Ledger) -> None:
    jobs = {"run": cell(), "check": grade().model_copy(update={"public_only": True}), "grade": grade()}
    accepted = [await ledger.submit(LearnerId(name), "t", job, origin=KNOWN) for name, job in jobs.items()]
    assert [await find_ahead(ledger, each.id) for each in accepted] == [2, 1, 0]


async def test_what_a_learner_used_lately_counts_like_what_they_have_waiting(ledger: Ledger) -> None:
    def make_it_long(connection: Connection) -> None:
        connection.execute(update(submissions).values(started_at=submissions.c.finished_at - 12.0))

    long = await ledger.submit(ANN, "t1", cell(), origin=KNOWN)
    await ledger.finish(await claim_now(ledger, long.id), RunEnd(outcome=Outcome.OK))
    await ledger.database.write(make_it_long)
    heavy = await ledger.submit(ANN, "t2", cell(), origin=KNOWN)
    light = await ledger.submit(BOB, "t3", cell(), origin=KNOWN)
    assert [await find_ahead(ledger, each.id) for each in (light, heavy)] == [0, 1]


async def test_a_wait_of_ones_own_that_is_too_long_is_refused_and_told_when_to_come_back(
    open_one: OpenLedger,
) -> None:
    ledger = open_one(Policy(wait_limit_seconds=5))
    for i in range(6):
        await ledger.submit(LearnerId(f"l{i}"), "t", cell())
    with pytest.raises(QueueFull) as refusal:
        await ledger.submit(ANN, "t", cell())
    assert str(refusal.value) == "6 runs would start before yours. Try again in 1 second."
    assert (await ledger.depth(Queue.CPU)).queued == 6
    await ledger.submit(ANN, "t", cell(), queue=Queue.GPU)


async def test_a_learner_who_is_known_is_let_in_however_long_the_new_ones_wait(open_one: OpenLedger) -> None:
    ledger = open_one(Policy(wait_limit_seconds=5))
    await ledger.say_hello(hello())
    for i in range(6):
        await ledger.submit(LearnerId(f"l{i}"), "t", cell(), origin=Origin("flood"))
    assert (await ledger.submit(ANN, "t", cell(), origin=KNOWN)).ahead == 0


async def test_one_address_may_have_only_so_many_unfinished_jobs(open_one: OpenLedger) -> None:
    ledger = open_one(Policy(address_pending_cap=3))
    for i in range(3):
        await ledger.submit(LearnerId(f"l{i}"), "t", cell(), origin=Origin("school"))
    with pytest.raises(AddressBusy):
        await ledger.submit(ANN, "t", cell(), origin=Origin("school"))
    await ledger.submit(ANN, "t", cell(), origin=Origin("home"))


async def test_nothing_is_ahead_of_what_runs_or_ended_or_never_was(ledger: Ledger) -> None:
    accepted = await ledger.submit(ANN, "t", grade())
    await claim_now(ledger, accepted.id)
    assert [await ledger.find_position(one) for one in (accepted.id, SubmissionId("nothing"))] == [None, None]


async def test_public_checks_supersede_no_submission_and_are_superseded_by_none(ledger: Ledger) -> None:
    submitted = await ledger.submit(ANN, "t1", grade())
    check = await ledger.submit(ANN, "t2", grade().model_copy(update={"public_only": True}))
    assert [(await ledger.find(one.id)).state for one in (submitted, check)] == [State.QUEUED, State.QUEUED]
    await ledger.submit(ANN, "t3", grade())
    assert [(await ledger.find(one.id)).state for one in (submitted, check)] == [State.FINISHED, State.QUEUED]
