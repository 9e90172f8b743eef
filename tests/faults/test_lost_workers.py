"""Workers are killed, frozen and thawed at bad moments; every accepted job has exactly one verdict."""

import asyncio
import random
import signal

import pytest
from fake_worker import HANGS, POLICY
from fault_parts import LostWakeups, Stage
from sqlalchemy import Connection

from graders.contract.results import Outcome
from graders.ledger import Database, Ledger

pytestmark = pytest.mark.slow

NO_NOTIFY = "DISABLE TRIGGER procrastinate_jobs_notify_queue_job_inserted_v1"


async def test_a_worker_killed_in_the_middle_of_a_job_is_replaced(stage: Stage) -> None:
    victim = stage.start_worker("victim")
    submission = await stage.submit("sleep 1")
    await stage.wait_until_started(submission)
    victim.kill()
    stage.start_worker("heir")
    found = await stage.expect_one_verdict(submission)
    assert (found.claim_number, found.result.stdout) == (2, "heir")


async def test_a_worker_frozen_past_its_lease_is_fenced_off_when_it_thaws(stage: Stage) -> None:
    zombie = stage.start_worker("zombie")
    submission = await stage.submit("sleep 1.5")
    await stage.wait_until_started(submission)
    zombie.send_signal(signal.SIGSTOP)
    stage.start_worker("heir")
    found = await stage.expect_one_verdict(submission)
    assert (found.claim_number, found.result.stdout) == (2, "heir")
    zombie.send_signal(signal.SIGCONT)
    await asyncio.sleep(2)
    assert await stage.expect_one_verdict(submission) == found
    assert zombie.poll() is None
    later = await stage.submit("", key="later")
    await stage.expect_one_verdict(later)


async def test_a_death_just_before_the_verdicts_commit_leaves_no_trace_of_it(stage: Stage) -> None:
    victim = stage.start_worker("victim", "before-commit")
    submission = await stage.submit("")
    await asyncio.to_thread(victim.wait, 20)
    stage.start_worker("heir")
    found = await stage.expect_one_verdict(submission)
    assert (found.claim_number, found.result.stdout) == (2, "heir")


async def test_a_death_just_after_the_verdicts_commit_leaves_it_standing(stage: Stage) -> None:
    victim = stage.start_worker("victim", "after-commit")
    submission = await stage.submit("")
    await asyncio.to_thread(victim.wait, 20)
    found = await stage.expect_one_verdict(submission)
    stage.start_worker("heir")
    await asyncio.sleep(2)
    assert await stage.expect_one_verdict(submission) == found
    assert (found.claim_number, found.result.stdout) == (1, "victim")


async def test_a_job_that_kills_three_workers_is_given_up_and_the_queue_goes_on(stage: Stage) -> None:
    poison = await stage.submit("die", learner="mallory")
    harmless = [await stage.submit("", learner=f"l{i}") for i in range(5)]
    lost_workers = 0

    async def keep_a_worker() -> None:
        nonlocal lost_workers
        while True:
            worker = stage.start_worker(f"w{lost_workers}")
            await asyncio.to_thread(worker.wait)
            lost_workers += 1

    keeping = asyncio.create_task(keep_a_worker())
    found = await stage.expect_one_verdict(poison, within_seconds=40)
    for submission in harmless:
        assert (await stage.expect_one_verdict(submission)).result.outcome is Outcome.OK
    keeping.cancel()
    stage.workers.end_workers()
    assert (found.result.outcome, lost_workers) == (Outcome.GRADER_FAULT, 3)


async def test_two_workers_and_two_reconcilers_share_fifty_jobs_without_a_double(stage: Stage) -> None:
    stage.start_worker("first")
    stage.start_worker("second")
    submissions = [await stage.submit("sleep 0.01", learner=f"l{i % 10}", key=f"t{i}") for i in range(50)]
    found = [await stage.expect_one_verdict(submission) for submission in submissions]
    assert {one.claim_number for one in found} == {1}


@pytest.mark.nightly
async def test_twelve_kills_during_a_hundred_jobs_lose_and_double_none(stage: Stage) -> None:
    rng = random.Random(7)
    submissions = []

    async def submit_all() -> None:
        for i in range(100):
            submissions.append(await stage.submit("sleep 0.05", learner=f"l{i % 20}", key=f"t{i}"))
            await asyncio.sleep(0.03)

    submitting = asyncio.create_task(submit_all())
    for kill in range(12):
        worker = stage.start_worker(f"w{kill}")
        await asyncio.sleep(rng.uniform(0.7, 1.4))
        worker.kill()
    await submitting
    stage.start_worker("last")
    for submission in submissions:
        await stage.expect_one_verdict(submission, within_seconds=60)


async def test_a_worker_that_is_told_to_stop_hands_over_and_does_not_count_as_lost(stage: Stage) -> None:
    leaver = stage.start_worker("leaver")
    submission = await stage.submit("sleep 1")
    await stage.wait_until_started(submission)
    stage.start_worker("heir")
    leaver.terminate()
    found = await stage.expect_one_verdict(submission)
    assert found.claim_number in (1, 2)
    assert await asyncio.to_thread(leaver.wait, 10) == 0


async def test_a_worker_that_is_not_woken_finds_the_job_by_looking_and_its_reader_the_verdict(stage: Stage) -> None:
    stage.start_worker("deaf")
    async with asyncio.timeout(20):
        while not await stage.ledger.workers():  # noqa: ASYNC110 - there is no event for a worker's hello
            await asyncio.sleep(0.05)
    if not stage.ledger.database.is_sqlite:
        await stage.ledger.database.write(Connection.exec_driver_sql, f"ALTER TABLE procrastinate_jobs {NO_NOTIFY}")
    mute = Stage(stage.workers, Ledger(Database(stage.workers.url), LostWakeups(), POLICY))
    found = await mute.expect_one_verdict(await mute.submit(""))
    await mute.ledger.close()
    assert found.result.stdout == "deaf"


@pytest.mark.nightly
async def test_a_box_that_neither_its_limits_nor_a_kill_can_end_is_our_fault_and_its_worker_goes(
    stage: Stage,
) -> None:
    hanging = stage.start_worker("hanging")
    submission = await stage.submit("hang", learner="mallory")
    await stage.wait_until_started(submission)
    beside = await stage.submit("", learner="ben")
    assert (await stage.expect_one_verdict(beside)).result.stdout == "hanging"
    found = await stage.expect_one_verdict(submission, within_seconds=40)
    assert (found.claim_number, found.result.outcome) == (1, Outcome.GRADER_FAULT)
    assert await asyncio.to_thread(hanging.wait, 20) == HANGS
    stage.start_worker("heir")
    assert (await stage.expect_one_verdict(await stage.submit("", key="later"))).result.stdout == "heir"


@pytest.mark.parametrize("skew", ["clock+60", pytest.param("clock-60", marks=pytest.mark.nightly)])
async def test_a_worker_whose_clock_is_a_minute_wrong_keeps_its_leases_and_takes_no_other(
    stage: Stage, skew: str
) -> None:
    stage.start_worker("right")
    first = await stage.submit("sleep 2.5", learner="ann")
    await stage.wait_until_started(first)
    stage.start_worker("wrong", skew)
    others = [await stage.submit("sleep 1.5", learner=f"l{i}") for i in range(4)]
    for submission in (first, *others):
        found = await stage.expect_one_verdict(submission)
        assert found.claim_number == 1
        assert found.submitted_at <= found.started_at < found.finished_at
    await asyncio.sleep(0.5)
    assert [seen.hello.worker for seen in await stage.ledger.workers()] == ["right", "wrong"]
