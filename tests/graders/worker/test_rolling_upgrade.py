"""Two versions of Unwind serve one queue for a while: nothing that was accepted is lost, and nobody falls over."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, select, update

from graders.contract.events import EventKind
from graders.contract.hello import WorkerHello
from graders.contract.jobs import Flavour, GradeJob, Queue
from graders.contract.model import ExerciseName, LearnerId, SubmissionId
from graders.contract.results import Outcome, Verdict
from graders.ledger import Lack, Ledger, Origin, Policy, State, Unjudged, open_ledger
from graders.ledger.tables import submissions, workers
from graders.trusted.exercise import read_digest
from graders.trusted.exercise_folders import ExerciseFolders
from graders.worker.loop import WorkerLoop
from graders.worker.runner import Runner

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
SCALING = ExerciseName("scaling")
POLICY = Policy(dispatch_poll_seconds=0.1)


@pytest.fixture
async def ledger(tmp_path: Path, database_url: str) -> AsyncIterator[Ledger]:
    ledger = open_ledger(database_url, tmp_path / "wakeups", POLICY)
    yield ledger
    await ledger.close()


@pytest.fixture
def versions(tmp_path: Path) -> tuple[Path, Path]:
    """The exercises of the old and of the new version of the course."""
    for name, edit in (("old", ""), ("new", "# edited\n")):
        cases = Path(shutil.copytree(FIXTURES / "scaling", tmp_path / name / "scaling")) / "cases.py"
        cases.write_text(cases.read_text() + edit)
    return tmp_path / "old", tmp_path / "new"


def judge_as(name: str) -> Runner:
    return lambda job, on_event, kill: Verdict(outcome=Outcome.PASSED, exercise=SCALING, stdout=name)


def make_hello(name: str) -> WorkerHello:
    return WorkerHello(
        worker=name, queue=Queue.CPU, slots=1, flavours=(Flavour.PLAIN,), profile="P2", memory_cgroup=False,
        python="3.11", torch="none", device="cpu", self_test_passed=1, self_test_total=1,
    )  # fmt: skip


@asynccontextmanager
async def grading(database_url: str, name: str, *exercises: Path) -> AsyncIterator[None]:
    """A grader joins, as on a host of its own, and is told to stop at the end of the block, as by SIGTERM."""
    stopping = asyncio.Event()
    ledger = open_ledger(database_url, exercises[0].parent / "wakeups", POLICY)
    loop = WorkerLoop(ledger, make_hello(name), (judge_as(name),), ExerciseFolders(lambda: exercises), 0.05)
    work = asyncio.create_task(loop.work(stopping))
    try:
        yield
    finally:
        stopping.set()
        async with asyncio.timeout(10):
            await work
        await ledger.close()


async def hand_in(ledger: Ledger, key: str, exercises: Path) -> SubmissionId:
    """As from a website with these files."""
    job = GradeJob(exercise=SCALING, source="", exercise_digest=read_digest(exercises, SCALING))
    return (await ledger.submit(LearnerId(key), key, job, origin=Origin(known_seconds=600.0))).id


async def wait_for_the_judge(ledger: Ledger, submission: SubmissionId) -> str:
    """Who judged it."""
    async with asyncio.timeout(20):
        kinds = [event.kind async for event in ledger.follow(submission)]
    assert kinds.count(EventKind.FINISHED) == 1
    found = await ledger.find(submission)
    assert found is not None
    assert found.result is not None
    return found.result.stdout


async def test_each_submission_is_judged_by_the_version_that_its_website_had(
    ledger: Ledger, database_url: str, versions: tuple[Path, Path]
) -> None:
    old, new = versions
    async with AsyncExitStack() as serving:
        async with grading(database_url, "old", old):
            assert await wait_for_the_judge(ledger, await hand_in(ledger, "before", old)) == "old"
            await serving.enter_async_context(grading(database_url, "new", new))
            both = [await hand_in(ledger, f"{number}", (old, new)[number % 2]) for number in range(10)]
            judges = [await wait_for_the_judge(ledger, submission) for submission in both]
            assert judges == ["old", "new"] * 5
        assert [seen.hello.worker for seen in await ledger.workers()] == ["new"]
        assert await wait_for_the_judge(ledger, await hand_in(ledger, "after", new)) == "new"


def add_field(connection: Connection, submission: SubmissionId) -> None:
    """As a newer website would have written the job."""
    row = submissions.c
    job = json.loads(connection.execute(select(row.job).where(row.id == submission)).scalar_one())
    text = json.dumps({**job, "of_a_later_version": True})
    connection.execute(update(submissions).where(row.id == submission).values(job=text))


async def test_a_job_that_a_newer_website_wrote_is_left_to_newer_graders(
    ledger: Ledger, database_url: str, versions: tuple[Path, Path], caplog: pytest.LogCaptureFixture
) -> None:
    old, _ = versions
    newer, plain = await hand_in(ledger, "newer", old), await hand_in(ledger, "plain", old)
    await ledger.database.write(add_field, newer)

    async with grading(database_url, "old", old):
        assert await wait_for_the_judge(ledger, plain) == "old"
        found = await ledger.find(newer)
        async with asyncio.timeout(10):
            while not (unjudged := await ledger.unjudged()):  # noqa: ASYNC110 - a hello is no event
                await asyncio.sleep(0.02)
        assert [(one.queue, one.lack, one.waiting) for one in unjudged] == [(Queue.CPU, Lack.PROGRAM, 1)]
        await ledger.say_hello(make_hello("new"))
        assert await ledger.unjudged() == ()

    assert found is not None
    assert (found.state, found.claim_number) == (State.QUEUED, 0)
    assert f"{newer}: left to other graders, because this version does not know of_a_later_version" in caplog.text
    assert await ledger.cancel(newer, LearnerId("newer"))
    assert (await ledger.find(newer)).result.outcome is Outcome.CANCELLED


async def test_the_hello_and_the_verdict_of_a_newer_grader_can_be_read(
    ledger: Ledger, versions: tuple[Path, Path]
) -> None:
    submission = await hand_in(ledger, "ann", versions[0])
    claim = await ledger.claim(submission, "new")
    await ledger.say_hello(make_hello("new"))
    await ledger.finish(claim, Verdict(outcome=Outcome.PASSED, exercise=SCALING, stdout="new"))

    def add_fields(connection: Connection) -> None:
        result = {"kind": "verdict", "outcome": "passed", "exercise": SCALING, "of_a_later_version": {"a": 1}}
        hello = json.loads(make_hello("new").model_dump_json()) | {"of_a_later_version": "x"}
        connection.execute(update(submissions).values(result=json.dumps(result)))
        connection.execute(update(workers).values(hello=json.dumps(hello)))

    await ledger.database.write(add_fields)
    found = await ledger.find(submission)
    assert found is not None
    assert found.result == Verdict(outcome=Outcome.PASSED, exercise=SCALING)
    assert [seen.hello for seen in await ledger.workers()] == [make_hello("new")]


async def test_what_nobody_can_judge_is_told_with_the_reason(ledger: Ledger, versions: tuple[Path, Path]) -> None:
    old, new = versions
    for key in ("first", "second"):
        await hand_in(ledger, key, new)
    await hand_in(ledger, "third", old)

    def told(unjudged: tuple[Unjudged, ...]) -> list[tuple[str, str, str, int]]:
        assert all(0.0 <= one.seconds < 60.0 for one in unjudged)
        return [(one.queue, one.exercise, one.digest, one.waiting) for one in unjudged]

    assert told(await ledger.unjudged()) == [("cpu", "", "", 3)]
    has = {SCALING: read_digest(old, SCALING)}
    await ledger.say_hello(make_hello("old").model_copy(update={"exercises": has}))
    assert told(await ledger.unjudged()) == [("cpu", SCALING, read_digest(new, SCALING), 2)]
    earlier = {SCALING: (read_digest(new, SCALING),)}
    await ledger.say_hello(make_hello("both").model_copy(update={"exercises": has, "earlier_exercises": earlier}))
    assert await ledger.unjudged() == ()
