"""The worker with a fake at the box's wall: what reaches the ledger, and what happens when things end early."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection

from graders.charge import OnEvent, Patience, Runner, SlotHangs
from graders.contract.events import EventKind, Output
from graders.contract.hello import WorkerHello
from graders.contract.jobs import Flavour, Job, Queue, RunJob
from graders.contract.model import LearnerId, SubmissionId
from graders.contract.results import Outcome, RunEnd
from graders.ledger import Ledger, Policy, State, open_ledger
from graders.ledger.tables import metadata
from graders.shift import Shift

ANN = LearnerId("ann")
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
    ledger = open_ledger(f"sqlite:///{tmp_path}/ledger.sqlite3", tmp_path / "doorbell", policy)
    await ledger.database.write(metadata.create_all)
    yield ledger
    await ledger.close()


@asynccontextmanager
async def working(ledger: Ledger, *runners: Runner) -> AsyncIterator[asyncio.Event]:
    """A worker while the block runs. Setting the event stops it earlier."""
    stopping = asyncio.Event()
    hello = HELLO.model_copy(update={"slots": len(runners)})
    work = asyncio.create_task(Shift(ledger, hello, runners).work(stopping))
    yield stopping
    stopping.set()
    async with asyncio.timeout(10):
        await work


async def submit(ledger: Ledger, token: str = "t") -> SubmissionId:
    return (await ledger.submit(ANN, token, RunJob(source="print(1)"))).id


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
        submissions = [await submit(ledger, f"t{i}") for i in range(30)]
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
    assert (await ledger.find(submission)).attempt == 1


async def test_a_run_whose_claim_is_lost_is_killed_by_the_next_beat(ledger: Ledger) -> None:
    async with working(ledger, endless) as stopping:
        submission = await submit(ledger)
        await wait_until_started(ledger, submission)
        stopping.set()
        await ledger.database.write(Connection.exec_driver_sql, "UPDATE submissions SET attempt = attempt + 1")
    assert (await ledger.find(submission)).state is State.RUNNING


async def test_a_worker_that_is_told_to_stop_hands_back_what_runs(ledger: Ledger) -> None:
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
        for token in ("t1", "t2"):
            submission = await submit(ledger, token)
            await follow(ledger, submission)
            assert (await ledger.find(submission)).result.outcome is Outcome.GRADER_FAULT


async def test_a_worker_says_hello_and_takes_up_what_a_dead_one_left(ledger: Ledger) -> None:
    submission = await submit(ledger)
    assert await ledger.claim(submission, "dead") is not None
    await asyncio.sleep(0.5)
    async with working(ledger, quick):
        await follow(ledger, submission)
        assert [seen.hello.worker for seen in await ledger.workers()] == ["w1"]
    assert (await ledger.find(submission)).attempt == 2


async def test_a_run_that_cannot_be_ended_is_our_fault_and_ends_the_shift(ledger: Ledger) -> None:
    released = threading.Event()

    def deaf(job: Job, on_event: OnEvent, kill: threading.Event) -> RunEnd:
        assert released.wait(30)
        return OK

    submission = await submit(ledger)
    impatient = Shift(ledger, HELLO, (deaf,), patience=Patience(run_seconds=0.1, kill_seconds=0.1))
    with pytest.raises(ExceptionGroup) as raised:
        await impatient.work(asyncio.Event())
    released.set()
    assert raised.group_contains(SlotHangs)
    events = await follow(ledger, submission)
    assert [kind for kind, _ in events] == ["queued", "started", "finished"]
    assert (await ledger.find(submission)).result.outcome is Outcome.GRADER_FAULT
