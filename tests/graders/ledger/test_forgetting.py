"""A learner may take their submissions along, and have them deleted."""

from graders.contract.jobs import GradeJob
from graders.contract.model import ExerciseName, LearnerId
from graders.ledger import Ledger

ADA, BOB = LearnerId("ada"), LearnerId("bob")
JOB = GradeJob(exercise=ExerciseName("double"), source="x = 1")


async def test_everything_of_a_learner_comes_oldest_first_and_nothing_of_others(ledger: Ledger) -> None:
    first = await ledger.submit(ADA, "token-1", JOB)
    await ledger.submit(BOB, "token-1", JOB)
    second = await ledger.submit(ADA, "token-2", JOB)

    kept = await ledger.everything(ADA)

    assert [submission.id for submission in kept] == [first.id, second.id]


async def test_a_forgotten_learner_leaves_no_submission_and_no_event(ledger: Ledger) -> None:
    mine = await ledger.submit(ADA, "token-1", JOB)
    theirs = await ledger.submit(BOB, "token-1", JOB)

    await ledger.forget(ADA)

    assert await ledger.everything(ADA) == ()
    assert await ledger.events_after(mine.id, 0) == ()
    assert [submission.id for submission in await ledger.everything(BOB)] == [theirs.id]


async def test_a_run_that_is_forgotten_loses_its_claim(ledger: Ledger) -> None:
    accepted = await ledger.submit(ADA, "token-1", JOB)
    claim = await ledger.claim(accepted.id, "worker-1")
    assert claim is not None

    await ledger.forget(ADA)

    assert await ledger.find_lost([claim]) == (claim,)
