"""What is only read: histories, depths, estimates, and everything that is kept of a learner."""

from ledger_parts import ANN, BOB, OpenLedger, cell, claim_now, grade, hello

from graders.contract.jobs import Queue
from graders.contract.model import LearnerId
from graders.contract.results import Outcome, Verdict
from graders.ledger import Ledger, Origin, Policy, QueuePosition


async def test_history_and_finished_submissions_tell_what_a_learner_did(ledger: Ledger) -> None:
    first = await ledger.submit(ANN, "t1", grade())
    await ledger.finish(await claim_now(ledger, first.id), Verdict(outcome=Outcome.WRONG_ANSWER, exercise="double"))
    second = await ledger.submit(ANN, "t2", grade())
    await ledger.submit(BOB, "t3", grade())
    await ledger.submit(ANN, "t4", cell())
    assert [one.id for one in await ledger.history(ANN, "double")] == [second.id, first.id]
    assert [(one.id, one.outcome) for one in await ledger.finished_submissions(ANN)] == [(first.id, "wrong_answer")]


async def test_everything_of_a_learner_comes_oldest_first_and_nothing_of_others(ledger: Ledger) -> None:
    first = await ledger.submit(ANN, "t1", grade())
    await ledger.submit(BOB, "t1", grade())
    second = await ledger.submit(ANN, "t2", grade())

    kept = await ledger.everything(ANN)

    assert [submission.id for submission in kept] == [first.id, second.id]


async def test_public_checks_are_found_by_their_id_and_enter_no_history(ledger: Ledger) -> None:
    check = await ledger.submit(ANN, "t1", grade().model_copy(update={"public_only": True}))
    claim = await claim_now(ledger, check.id)
    verdict = Verdict(outcome=Outcome.WRONG_ANSWER, exercise=claim.job.exercise, public_only=True)
    assert await ledger.finish(claim, verdict)
    assert (await ledger.find(check.id)).result == verdict
    assert await ledger.history(ANN, claim.job.exercise) == ()
    assert await ledger.finished_submissions(ANN) == ()


async def test_depth_counts_what_waits_and_what_runs(ledger: Ledger) -> None:
    for i in range(3):
        accepted = await ledger.submit(ANN, f"t{i}", cell())
    await claim_now(ledger, accepted.id)
    depth = await ledger.depth(Queue.CPU)
    assert (depth.queued, depth.running) == (2, 1)


async def test_estimates_follow_recent_runs_and_the_slots_that_there_are(open_one: OpenLedger) -> None:
    ledger = open_one(Policy())
    await ledger.say_hello(hello())
    for queue in Queue:
        for i in range(4):
            last = await ledger.submit(LearnerId(f"{queue}-{i}"), "t", cell(), queue, Origin(f"{queue}-{i}", 600.0))
        position = await ledger.find_position(last.id, queue)
        assert (
            position == {Queue.CPU: QueuePosition(3, 2.5), Queue.GPU: QueuePosition(3, 4.0, is_served=False)}[queue]
        )
