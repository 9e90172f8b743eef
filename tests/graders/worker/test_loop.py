"""The worker with a fake at the box's wall: what reaches the ledger, and what happens when things end early."""

import asyncio
import shutil
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection

from graders.contract.events import EventKind, OnEvent, Output
from graders.contract.hello import WorkerHello
from graders.contract.jobs import Flavour, GradeJob, Job, Queue, RunJob
from graders.contract.log_lines import TextLine
from graders.contract.model import LearnerId, SubmissionId
from graders.contract.outcome_sentences import find_other_version
from graders.contract.results import Outcome, RunEnd, Verdict
from graders.ledger import Ledger, Origin, Policy, State, open_ledger
from graders.ledger.queue_reader import CanJudge, Handle, QueueReader
from graders.ledger.tables import metadata
from graders.trusted.exercise import read_digest, read_digests
from graders.trusted.exercise_folders import ExerciseFolders
from graders.worker.card_health import CardUnfit
from graders.worker.loop import WorkerLoop
from graders.worker.runner import Runner
from graders.worker.running_job import Patience, SlotHangs

pytestmark = pytest.mark.slow

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
ANN = LearnerId("ann")
KNOWN = Origin(known_seconds=600.0)
HELLO = WorkerHello(
    worker="w1",
    queue=Queue.CPU,
    slots=1,
    flavours=(Flavour.PLAIN,),
    profile="P2",
    memory_cgroup=False,
    python="3.11",
    torch="none",
    device="cpu",
    self_test_passed=40,
    self_test_total=40,
)
OK = RunEnd(outcome=Outcome.OK)


def quick(job: Job, on_event: OnEvent, kill: threading.Event) -> RunEnd:
    for letter in "abc":
        on_event(EventKind.OUTPUT, Output(stream="stdout", text=letter))
    on_event(EventKind.OUTPUT, Output(stream="stderr", text="!"))
    return OK


def endless(job: Job, on_event: OnEvent, kill: threading.Event) -> RunEnd:
    on_event(EventKind.OUTPUT, Output(stream="stdout", text="begun"))
    assert kill.wait(20)
    return RunEnd(outcome=Outcome.CANCELLED)


def talkative(job: Job, on_event: OnEvent, kill: threading.Event) -> RunEnd:
    for number in range(200):
        on_event(EventKind.OUTPUT, Output(stream="stdout", text=f"{number} "))
        time.sleep(0.002)
    return OK


def broken(job: Job, on_event: OnEvent, kill: threading.Event) -> RunEnd:
    raise RuntimeError("the box is on fire")


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[Ledger]:
    policy = Policy(lease_seconds=0.4, pending_cap=100)
    ledger = open_ledger(f"sqlite:///{tmp_path}/ledger.sqlite3", tmp_path / "wakeups", policy)
    await ledger.database.write(metadata.create_all)
    yield ledger
    await ledger.close()


@asynccontextmanager
async def working(ledger: Ledger, *runners: Runner) -> AsyncIterator[asyncio.Event]:
    """A worker while the block runs. Setting the event stops it earlier."""
    stopping = asyncio.Event()
    hello = HELLO.model_copy(update={"slots": len(runners)})
    work = asyncio.create_task(WorkerLoop(ledger, hello, runners).work(stopping))
    yield stopping
    stopping.set()
    async with asyncio.timeout(10):
        await work


async def submit(ledger: Ledger, key: str = "t") -> SubmissionId:
    return (await ledger.submit(ANN, key, RunJob(source="print(1)"))).id


async def wait_until_started(ledger: Ledger, submission: SubmissionId) -> None:
    async with asyncio.timeout(10):
        async for event in ledger.follow(submission):
            if event.kind is EventKind.STARTED:
                return


async def follow(ledger: Ledger, submission: SubmissionId) -> list[tuple[EventKind, str]]:
    async with asyncio.timeout(10):
        return [(event.kind, event.body) async for event in ledger.follow(submission)]


async def test_a_quick_run_reaches_its_reader_with_its_output_joined(ledger: Ledger) -> None:
    async with working(ledger, quick):
        events = await follow(ledger, await submit(ledger))
    assert [kind for kind, _ in events] == ["queued", "started", "output", "output", "finished"]
    assert [body for _, body in events[2:]] == [
        '{"stream":"stdout","text":"abc"}',
        '{"stream":"stderr","text":"!"}',
        OK.model_dump_json(),
    ]


async def test_output_streams_in_few_pieces_and_whole(ledger: Ledger) -> None:
    async with working(ledger, talkative):
        events = await follow(ledger, await submit(ledger))
    pieces = [Output.model_validate_json(body).text for kind, body in events if kind is EventKind.OUTPUT]
    assert "".join(pieces) == "".join(f"{number} " for number in range(200))
    assert 2 <= len(pieces) <= 30


async def test_as_many_run_at_a_time_as_there_are_slots_and_all_end(ledger: Ledger) -> None:
    running, most, lock, three = 0, 0, threading.Lock(), threading.Barrier(3)

    def counted(job: Job, on_event: OnEvent, kill: threading.Event) -> RunEnd:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        three.wait(10)
        with lock:
            running -= 1
        return OK

    async with working(ledger, counted, counted, counted):
        sent = [ledger.submit(LearnerId(f"l{i}"), "t", RunJob(source="1"), origin=KNOWN) for i in range(30)]
        submissions = [(await one).id for one in sent]
        ends = await asyncio.gather(*(follow(ledger, submission) for submission in submissions))
    assert most == 3
    assert all([kind for kind, _ in events].count(EventKind.FINISHED) == 1 for events in ends)


async def test_a_cancelled_run_is_killed_at_once_and_its_slot_serves_the_next(ledger: Ledger) -> None:
    runs = iter((endless, quick))

    def one_after_the_other(job: Job, on_event: OnEvent, kill: threading.Event) -> RunEnd:
        return next(runs)(job, on_event, kill)

    async with working(ledger, one_after_the_other):
        first = await submit(ledger, "t1")
        await wait_until_started(ledger, first)
        assert await ledger.cancel(first, ANN)
        second = await submit(ledger, "t2")
        assert (await follow(ledger, second))[-1] == (EventKind.FINISHED, OK.model_dump_json())
    assert (await ledger.find(first)).result.outcome is Outcome.CANCELLED


async def test_a_run_longer_than_its_lease_keeps_it(ledger: Ledger) -> None:
    def long(job: Job, on_event: OnEvent, kill: threading.Event) -> RunEnd:
        assert not kill.wait(1.2)
        return OK

    async with working(ledger, long):
        submission = await submit(ledger)
        await asyncio.sleep(0.7)
        assert (await ledger.reconcile()).requeued == 0
        await follow(ledger, submission)
    assert (await ledger.find(submission)).claim_number == 1


async def test_a_run_whose_claim_is_lost_is_killed_by_the_next_beat(ledger: Ledger) -> None:
    async with working(ledger, endless) as stopping:
        submission = await submit(ledger)
        await wait_until_started(ledger, submission)
        stopping.set()
        await ledger.database.write(
            Connection.exec_driver_sql, "UPDATE submissions SET claim_number = claim_number + 1"
        )
    assert (await ledger.find(submission)).state is State.RUNNING


async def test_a_worker_that_is_told_to_stop_releases_what_runs(ledger: Ledger) -> None:
    async with working(ledger, endless) as stopping:
        submission = await submit(ledger)
        await wait_until_started(ledger, submission)
        stopping.set()
    assert (await ledger.find(submission)).state is State.QUEUED
    assert await ledger.workers() == ()
    async with working(ledger, quick):
        assert (await follow(ledger, submission))[-1][1] == OK.model_dump_json()


async def test_a_runner_that_raises_gives_our_fault_and_the_worker_goes_on(ledger: Ledger) -> None:
    async with working(ledger, broken):
        for key in ("t1", "t2"):
            submission = await submit(ledger, key)
            await follow(ledger, submission)
            assert (await ledger.find(submission)).result.outcome is Outcome.GRADER_FAULT


async def test_what_a_run_logs_in_its_thread_names_the_submission_and_the_request(
    ledger: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.handler.setFormatter(TextLine("grader"))
    async with working(ledger, broken):
        submission = (await ledger.submit(ANN, "t", RunJob(source="x"), origin=Origin(request="a-request"))).id
        await follow(ledger, submission)

    assert f"ERROR grader: the runner raised [submission {submission}, request a-request]" in caplog.text


async def test_a_worker_says_hello_and_takes_up_what_a_lost_one_left(ledger: Ledger) -> None:
    submission = await submit(ledger)
    assert await ledger.claim(submission, "dead") is not None
    await asyncio.sleep(0.5)
    async with working(ledger, quick):
        await follow(ledger, submission)
        assert [seen.hello.worker for seen in await ledger.workers()] == ["w1"]
    assert (await ledger.find(submission)).claim_number == 2


def copy_exercises(root: Path, edit: str = "") -> Path:
    """The exercises of a worker's host; an edit is a line more in the cases."""
    cases = Path(shutil.copytree(FIXTURES / "scaling", root / "scaling")) / "cases.py"
    cases.write_text(cases.read_text() + edit)
    return root


def judge_as(name: str) -> Runner:
    return lambda job, on_event, kill: Verdict(outcome=Outcome.PASSED, exercise="scaling", stdout=name)


@asynccontextmanager
async def judging(ledger: Ledger, name: str, *exercises: Path) -> AsyncIterator[None]:
    """A worker that has these exercises, the live ones first, while the block runs."""
    folders = ExerciseFolders(lambda: exercises)
    stopping = asyncio.Event()
    loop = WorkerLoop(ledger, HELLO.model_copy(update={"worker": name}), (judge_as(name),), folders, 0.05)
    work = asyncio.create_task(loop.work(stopping))
    yield
    stopping.set()
    async with asyncio.timeout(10):
        await work


async def hand_in(ledger: Ledger, exercises: Path) -> SubmissionId:
    """As from a website with these files."""
    digest = read_digest(exercises, "scaling")
    return (await ledger.submit(ANN, "t", GradeJob(exercise="scaling", source="", exercise_digest=digest))).id


async def test_a_submission_goes_to_the_worker_that_has_its_version(ledger: Ledger, tmp_path: Path) -> None:
    old, new = copy_exercises(tmp_path / "old"), copy_exercises(tmp_path / "new", "# edited\n")
    submission = await hand_in(ledger, new)
    async with judging(ledger, "old", old):
        await asyncio.sleep(0.2)
        assert (await ledger.find(submission)).state is State.QUEUED
        async with judging(ledger, "new", new):
            await follow(ledger, submission)
    found = await ledger.find(submission)
    assert (found.result.stdout, found.claim_number) == ("new", 1)


async def test_what_was_sent_to_an_earlier_version_is_judged_while_that_is_kept(
    ledger: Ledger, tmp_path: Path
) -> None:
    old, new = copy_exercises(tmp_path / "old"), copy_exercises(tmp_path / "new", "# edited\n")
    submission = await hand_in(ledger, old)

    async with judging(ledger, "w1", new, old):
        await follow(ledger, submission)
        hello = (await ledger.workers())[0].hello

    assert (await ledger.find(submission)).result.outcome is Outcome.PASSED

    assert hello.exercises == read_digests(new)
    assert hello.earlier_exercises == {name: (digest,) for name, digest in read_digests(old).items()}


async def test_an_edited_exercise_is_judged_by_the_same_worker_at_once(ledger: Ledger, tmp_path: Path) -> None:
    exercises = copy_exercises(tmp_path)
    async with judging(ledger, "w1", exercises):
        (exercises / "scaling" / "cases.py").write_text("# edited\n")
        submission = await hand_in(ledger, exercises)
        await follow(ledger, submission)
        assert (await ledger.find(submission)).result.outcome is Outcome.PASSED
        async with asyncio.timeout(10):
            while (await ledger.workers())[0].hello.exercises != read_digests(exercises):  # noqa: ASYNC110 - no event for it
                await asyncio.sleep(0.01)


async def test_a_version_that_no_worker_has_ends_as_our_fault_and_the_log_names_both(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    old, new = copy_exercises(tmp_path / "old"), copy_exercises(tmp_path / "new", "# edited\n")
    ledger = open_ledger(f"sqlite:///{tmp_path}/x.sqlite3", tmp_path / "x", Policy(version_grace_seconds=0.0))
    await ledger.database.write(metadata.create_all)
    submission = await hand_in(ledger, new)
    async with judging(ledger, "w1", old):
        await follow(ledger, submission)
    assert (await ledger.find(submission)).result.finding == find_other_version("scaling")
    for words in ("scaling", read_digest(old, "scaling"), read_digest(new, "scaling")):
        assert words in caplog.text
    await ledger.close()


class OffersAll:
    """A dispatcher that asks for no version: what a worker is offered may have changed since."""

    def __init__(self, dispatcher: QueueReader) -> None:
        self._dispatcher = dispatcher

    def wake(self, queue: Queue) -> None:
        self._dispatcher.wake(queue)

    async def worker(
        self, queue: Queue, slots: int, handle: Handle, stopping: asyncio.Event, can_judge: CanJudge | None
    ) -> None:
        async def handle_once(submission: SubmissionId) -> None:
            await handle(submission)
            stopping.set()

        await self._dispatcher.worker(queue, slots, handle_once, stopping)


async def test_a_claim_whose_files_changed_meanwhile_is_released(
    ledger: Ledger, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    old, new = copy_exercises(tmp_path / "old"), copy_exercises(tmp_path / "new", "# edited\n")
    submission = await hand_in(ledger, new)
    ledger.dispatcher = OffersAll(ledger.dispatcher)
    async with judging(ledger, "old", old):
        await asyncio.sleep(0.2)
    found = await ledger.find(submission)
    assert (found.state, found.claim_number) == (State.QUEUED, 1)
    for words in ("scaling", read_digest(old, "scaling"), read_digest(new, "scaling")):
        assert words in caplog.text


async def test_a_run_that_cannot_be_ended_is_our_fault_and_ends_the_loop(ledger: Ledger) -> None:
    released = threading.Event()

    def deaf(job: Job, on_event: OnEvent, kill: threading.Event) -> RunEnd:
        assert released.wait(30)
        return OK

    submission = await submit(ledger)
    impatient = WorkerLoop(ledger, HELLO, (deaf,), patience=Patience(run_seconds=0.1, kill_seconds=0.1))
    with pytest.raises(ExceptionGroup) as raised:
        await impatient.work(asyncio.Event())
    released.set()
    assert raised.group_contains(SlotHangs)
    events = await follow(ledger, submission)
    assert [kind for kind, _ in events] == ["queued", "started", "finished"]
    assert (await ledger.find(submission)).result.outcome is Outcome.GRADER_FAULT


async def test_a_card_that_is_unfit_after_a_job_ends_the_worker_and_the_verdict_stays(ledger: Ledger) -> None:
    examined = []

    def examine() -> None:
        examined.append(True)
        raise CardUnfit("it computes wrongly")

    first, second = [
        (await ledger.submit(LearnerId(name), name * 16, RunJob(source="1"), Queue.CPU, KNOWN)).id for name in "ab"
    ]
    loop = WorkerLoop(ledger, HELLO, [quick], after_each=examine)
    with pytest.raises(ExceptionGroup) as raised:
        await asyncio.wait_for(loop.work(asyncio.Event()), 20)
    assert raised.group_contains(CardUnfit)
    states = {found.state for one in (first, second) if (found := await ledger.find(one))}
    assert states == {State.FINISHED, State.QUEUED}
    assert len(examined) == 1
