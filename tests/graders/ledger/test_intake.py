"""What the ledger lets in, and in which order it will run."""

import asyncio

import pytest
from ledger_parts import ANN, BOB, OpenLedger, cell, claim_now, grade

from graders.contract.events import EventKind
from graders.contract.jobs import Queue
from graders.contract.model import LearnerId
from graders.contract.results import Outcome, Verdict
from graders.ledger import Ledger, Policy, QueueFull, State, TooManyPending


async def test_the_same_token_gets_the_same_submission_and_runs_once(ledger: Ledger) -> None:
    first = await ledger.submit(ANN, "t1", grade())
    again = await ledger.submit(ANN, "t1", grade(source="another text"))
    assert (again.id, again.already) == (first.id, True)
    assert (await ledger.depth(Queue.CPU)).queued == 1


async def test_a_known_token_is_answered_even_when_nothing_new_is_let_in(ledger: Ledger) -> None:
    accepted = [await ledger.submit(ANN, f"t{i}", cell()) for i in range(3)]
    assert (await ledger.submit(ANN, "t0", cell())).id == accepted[0].id


async def test_tokens_of_two_learners_do_not_meet(ledger: Ledger) -> None:
    assert (await ledger.submit(ANN, "t", grade())).id != (await ledger.submit(BOB, "t", grade())).id


async def test_one_token_sent_twenty_times_at_once_is_one_submission(ledger: Ledger, open_one: OpenLedger) -> None:
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


async def test_a_submission_supersedes_even_at_the_cap(ledger: Ledger) -> None:
    for i in range(3):
        await ledger.submit(ANN, f"t{i}", grade(f"e{i}"))
    await ledger.submit(ANN, "t3", grade("e2"))
    assert (await ledger.depth(Queue.CPU)).queued == 3


async def test_who_waits_with_little_comes_before_who_waits_with_much(open_one: OpenLedger) -> None:
    ledger = open_one(Policy(pending_cap=100))
    many = [await ledger.submit(ANN, f"t{i}", cell()) for i in range(10)]
    one = await ledger.submit(BOB, "t", cell())
    assert one.place == 2
    assert [await ledger.place(many[0].id), await ledger.place(one.id), await ledger.place(many[1].id)] == [1, 2, 3]


async def test_a_higher_level_runs_earlier(ledger: Ledger) -> None:
    await ledger.submit(ANN, "t1", grade())
    assert (await ledger.submit(BOB, "t2", grade(), level=10)).place == 1


async def test_a_queue_too_long_to_wait_for_refuses_and_says_when_to_come_back(open_one: OpenLedger) -> None:
    ledger = open_one(Policy(wait_limit_seconds=5))
    for i in range(6):
        await ledger.submit(LearnerId(f"l{i}"), "t", cell())
    with pytest.raises(QueueFull) as refusal:
        await ledger.submit(ANN, "t", cell())
    assert (refusal.value.depth, refusal.value.retry_after_seconds) == (6, 1)
    assert (await ledger.depth(Queue.CPU)).queued == 6
    await ledger.submit(ANN, "t", cell(), queue=Queue.GPU)


async def test_the_place_of_what_runs_or_ended_or_never_was_is_zero(ledger: Ledger) -> None:
    accepted = await ledger.submit(ANN, "t", grade())
    await claim_now(ledger, accepted.id)
    assert [await ledger.place(accepted.id), await ledger.place("nothing")] == [0, 0]


async def test_a_look_at_the_public_checks_is_found_by_its_id_and_enters_no_history(ledger: Ledger) -> None:
    look = await ledger.submit(ANN, "t1", grade().model_copy(update={"public_only": True}))
    claim = await claim_now(ledger, look.id)
    verdict = Verdict(outcome=Outcome.WRONG_ANSWER, exercise=claim.job.exercise, public_only=True)
    assert await ledger.finish(claim, verdict)
    assert (await ledger.find(look.id)).result == verdict
    assert await ledger.history(ANN, claim.job.exercise) == ()
    assert await ledger.standings(ANN) == ()


async def test_a_look_supersedes_no_submission_and_is_superseded_by_none(ledger: Ledger) -> None:
    submitted = await ledger.submit(ANN, "t1", grade())
    look = await ledger.submit(ANN, "t2", grade().model_copy(update={"public_only": True}))
    assert [(await ledger.find(one.id)).state for one in (submitted, look)] == [State.QUEUED, State.QUEUED]
    await ledger.submit(ANN, "t3", grade())
    assert [(await ledger.find(one.id)).state for one in (submitted, look)] == [State.FINISHED, State.QUEUED]


async def test_a_withdrawn_look_is_still_a_look(ledger: Ledger) -> None:
    look = await ledger.submit(ANN, "t1", grade().model_copy(update={"public_only": True}))
    assert await ledger.cancel(look.id, ANN)
    assert (await ledger.find(look.id)).result.public_only
