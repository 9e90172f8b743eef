"""Ends that no worker brings: what a learner withdraws, and what is deleted with them."""

from ledger_parts import ANN, BOB, cell, claim_now, grade

from graders.contract.results import Outcome, Verdict
from graders.ledger import Ledger
from graders.ledger.finish import forget

VERDICT = Verdict(outcome=Outcome.PASSED, exercise="double")


async def test_a_learner_withdraws_a_waiting_and_a_running_job(ledger: Ledger) -> None:
    waiting = await ledger.submit(ANN, "t1", cell())
    running = await ledger.submit(ANN, "t2", grade())
    claim = await claim_now(ledger, running.id)
    assert [await ledger.cancel(waiting.id, ANN), await ledger.cancel(running.id, ANN)] == [True, True]
    assert (await ledger.find(waiting.id)).result.outcome is Outcome.CANCELLED
    assert await ledger.claim(waiting.id, "w") is None
    assert not await ledger.beat(claim)
    assert not await ledger.finish(claim, VERDICT)
    assert (await ledger.find(running.id)).result.outcome is Outcome.CANCELLED


async def test_nobody_withdraws_anothers_job_or_a_finished_one(ledger: Ledger) -> None:
    accepted = await ledger.submit(ANN, "t", grade())
    assert not await ledger.cancel(accepted.id, BOB)
    await ledger.finish(await claim_now(ledger, accepted.id), VERDICT)
    assert not await ledger.cancel(accepted.id, ANN)
    assert not await ledger.cancel("nothing", ANN)
    assert (await ledger.find(accepted.id)).result == VERDICT


async def test_withdrawn_public_checks_are_still_public_checks(ledger: Ledger) -> None:
    check = await ledger.submit(ANN, "t1", grade().model_copy(update={"public_only": True}))
    assert await ledger.cancel(check.id, ANN)
    assert (await ledger.find(check.id)).result.public_only


async def test_a_forgotten_learner_leaves_no_submission_and_no_event(ledger: Ledger) -> None:
    mine = await ledger.submit(ANN, "t1", grade())
    theirs = await ledger.submit(BOB, "t1", grade())

    await ledger.database.write(forget, ANN)

    assert await ledger.everything(ANN) == ()
    assert await ledger.events_after(mine.id, 0) == ()
    assert [submission.id for submission in await ledger.everything(BOB)] == [theirs.id]


async def test_a_run_that_is_forgotten_loses_its_claim(ledger: Ledger) -> None:
    accepted = await ledger.submit(ANN, "t1", grade())
    claim = await ledger.claim(accepted.id, "worker-1")
    assert claim is not None

    await ledger.database.write(forget, ANN)

    assert await ledger.find_lost([claim]) == (claim,)
