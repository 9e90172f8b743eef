"""A regrade judges an answer once more, behind everybody else, and leaves the learner's own history as it was."""

from ledger_parts import ANN, BOB, OpenLedger, claim_now, grade, hello

from graders.contract.jobs import GradeJob, Queue
from graders.contract.model import ExerciseName, SubmissionId
from graders.contract.results import Outcome, Verdict
from graders.ledger import Ledger, Policy
from graders.ledger.records import State
from graders.ledger.regrading import end_regrades, judge_again

DOUBLE = ExerciseName("double")


async def regrade(ledger: Ledger, submission: SubmissionId, digest: str = "new") -> SubmissionId:
    return (await ledger.database.write(judge_again, [submission], digest))[submission]


async def judge(ledger: Ledger, submission: SubmissionId, outcome: Outcome) -> None:
    claim = await claim_now(ledger, submission)
    assert await ledger.finish(claim, Verdict(outcome=outcome, exercise=DOUBLE))


async def test_the_same_source_is_judged_by_the_new_version_and_the_old_result_stays(ledger: Ledger) -> None:
    first = (await ledger.submit(ANN, "key-0001", grade(source="answer = 3", digest="old"))).id
    await judge(ledger, first, Outcome.WRONG_ANSWER)

    again = await regrade(ledger, first)
    await judge(ledger, again, Outcome.PASSED)

    before, after = await ledger.find(first), await ledger.find(again)
    assert before is not None
    assert after is not None
    assert before.result is not None
    assert after.result is not None
    assert (before.result.outcome, after.result.outcome) == (Outcome.WRONG_ANSWER, Outcome.PASSED)
    assert isinstance(after.job, GradeJob)
    assert (after.job.source, after.job.exercise_digest, after.learner) == ("answer = 3", "new", ANN)


async def test_a_regrade_is_no_attempt_and_in_no_history(ledger: Ledger) -> None:
    first = (await ledger.submit(ANN, "key-0001", grade())).id
    await judge(ledger, first, Outcome.WRONG_ANSWER)
    again = await regrade(ledger, first)
    await judge(ledger, again, Outcome.PASSED)

    assert [one.id for one in await ledger.history(ANN, DOUBLE)] == [first]
    assert [one.id for one in await ledger.finished_submissions(ANN)] == [first]


async def test_everybody_s_own_jobs_run_before_regrades(ledger: Ledger) -> None:
    """Also jobs that nobody waits for, such as a picture that follows somebody's typing."""
    first = (await ledger.submit(ANN, "key-0001", grade())).id
    await judge(ledger, first, Outcome.WRONG_ANSWER)
    again = await regrade(ledger, first)

    mine = await ledger.submit(BOB, "key-0002", grade())

    assert mine.ahead == 0
    position = await ledger.find_position(again)
    assert position is not None
    assert position.ahead == 1


async def test_regrades_count_against_no_learner_and_supersede_nothing(open_one: OpenLedger) -> None:
    """The learner may have two unfinished jobs; five regrades of theirs take none of these places."""
    ledger = open_one(Policy(pending_cap=2))
    first = (await ledger.submit(ANN, "key-0001", grade())).id
    await judge(ledger, first, Outcome.WRONG_ANSWER)
    regrades = [await regrade(ledger, first) for _ in range(5)]

    await ledger.submit(ANN, "key-0002", grade())
    await ledger.submit(ANN, "key-0003", grade("triple"))

    states = [await ledger.find(one) for one in regrades]
    assert [one.state for one in states if one] == [State.QUEUED] * 5


async def test_a_regrade_s_result_is_kept_while_cells_are_forgotten(hasty: Ledger) -> None:
    first = (await hasty.submit(ANN, "key-0001", grade())).id
    await judge(hasty, first, Outcome.WRONG_ANSWER)
    again = await regrade(hasty, first)
    await judge(hasty, again, Outcome.PASSED)

    await hasty.reconcile()

    assert await hasty.find(again) is not None


async def test_a_regrade_that_lost_its_worker_is_judged_by_another(open_one: OpenLedger) -> None:
    ledger = open_one(Policy(lease_seconds=-1.0))
    first = (await ledger.submit(ANN, "key-0001", grade())).id
    await judge(ledger, first, Outcome.WRONG_ANSWER)
    again = await regrade(ledger, first)
    await claim_now(ledger, again, "w1")

    assert (await ledger.reconcile()).requeued == 1
    await judge(ledger, again, Outcome.PASSED)

    found = await ledger.find(again)
    assert found is not None
    assert found.state is State.FINISHED


async def test_a_version_that_no_grader_has_ends_as_our_fault(open_one: OpenLedger) -> None:
    ledger = open_one(Policy(version_grace_seconds=-1.0))
    first = (await ledger.submit(ANN, "key-0001", grade(digest="old"))).id
    await judge(ledger, first, Outcome.WRONG_ANSWER)
    await ledger.say_hello(hello(exercises={DOUBLE: "old"}))
    again = await regrade(ledger, first, "new")

    await ledger.reconcile()

    found = await ledger.find(again)
    assert found is not None
    assert found.result is not None
    assert found.result.outcome is Outcome.GRADER_FAULT


async def test_ended_regrades_are_gone_and_answers_stay(ledger: Ledger) -> None:
    first = (await ledger.submit(ANN, "key-0001", grade())).id
    await judge(ledger, first, Outcome.WRONG_ANSWER)
    again = await regrade(ledger, first)

    await ledger.database.write(end_regrades, [first, again])

    assert await ledger.find(again) is None
    assert await ledger.find(first) is not None


async def test_a_regrade_goes_to_the_queue_of_its_submission(ledger: Ledger) -> None:
    first = (await ledger.submit(ANN, "key-0001", grade(), Queue.GPU)).id

    await regrade(ledger, first)

    assert (await ledger.depth(Queue.GPU)).queued == 2
