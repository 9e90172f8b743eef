"""The stock of graphs is filled by idle graders, a small job at a time, and readers do not empty it."""

import asyncio
from dataclasses import replace

import pytest
from drill_site import make_drills, make_graph, print_drawn
from site_parts import FakeWorker, StoppedClock

from app.course.drills.drill import LEVELS
from app.course.model import Course
from app.course.questions.marking import QuestionResponse
from app.storage.drill_graphs import Wanted
from app.storage.records import Answer
from app.web.edge.drill_stock import (
    AFTER_FAILURE_SECONDS,
    DRAWS_A_JOB,
    LEAST_EACH,
    PAUSE_SECONDS,
    DrillStock,
    name_generators,
)
from app.web.edge.site import Site
from graders.contract.jobs import GradeJob, RunJob
from graders.contract.model import LearnerId
from graders.contract.results import Outcome, RunEnd, Verdict

ADA = LearnerId("a" * 32)


@pytest.fixture(scope="session")
def course(course: Course) -> Course:
    return replace(course, drills=tuple(drill for drill in make_drills() if drill.id == "sums"))


@pytest.fixture(autouse=True)
def nobody_else_fills(monkeypatch: pytest.MonkeyPatch) -> None:
    """The site fills its stock too, and of two jobs of one drawer the later replaces the earlier."""

    async def rest(stock: DrillStock) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(DrillStock, "keep_filled", rest)


@pytest.fixture
def stock(site: Site, clock: StoppedClock) -> DrillStock:
    return DrillStock(site.store.drill_graphs, site.ledger, site.read_course, clock)


def draw_for(worker: FakeWorker, numbers: list[int]) -> None:
    """Let each job draw graphs of the level that it asks for, numbered onward."""

    def end(job: GradeJob | RunJob) -> Verdict | RunEnd:
        assert isinstance(job, RunJob)
        wanted = [level for _, level in eval(job.source.rpartition("print_drawn(draw, ")[2].removesuffix(")"))]
        graphs = [make_graph(numbers.pop(), level) for level in wanted]
        return RunEnd(outcome=Outcome.OK, stdout=print_drawn(*graphs))

    worker.end = end


async def test_idle_graders_fill_every_size_and_then_rest(worker: FakeWorker, stock: DrillStock) -> None:
    draw_for(worker, list(range(1000)))
    filled = [await stock.fill_once() for _ in range(len(LEVELS) + 1)]
    assert filled == [True] * len(LEVELS) + [False]
    (drill,) = stock._read_course().drills
    assert await stock.graphs.count({"sums": drill.digest}) == {("sums", level): DRAWS_A_JOB for level in LEVELS}
    assert DRAWS_A_JOB >= LEAST_EACH


async def test_nothing_is_drawn_without_graders_or_while_somebody_waits(stock: DrillStock, site: Site) -> None:
    assert not await stock.fill_once()
    await site.ledger.submit(ADA, "key", RunJob(source="print(1)"))
    assert not await stock.fill_once()
    assert await stock.graphs.count(name_generators(site.read_course().drills)) == {}


async def test_a_due_drill_without_a_new_graph_causes_more_to_be_drawn(
    worker: FakeWorker, stock: DrillStock, site: Site, clock: StoppedClock
) -> None:
    draw_for(worker, list(range(1000)))
    for _ in LEVELS:
        await stock.fill_once()
    drills = name_generators(stock._read_course().drills)
    assert await stock.askable(ADA, drills) == {"sums"}
    assert not await stock.fill_once()
    while taken := await stock.graphs.take(ADA, Wanted(drills), stock._clock()):
        await site.store.answer_drill(ADA, taken.stored.id, Answer("sums", QuestionResponse(), True, clock()))
    assert await stock.askable(ADA, drills) == set()
    assert await stock.fill_once()
    assert await stock.askable(ADA, drills) == {"sums"}


async def test_a_reader_near_the_end_of_a_group_causes_one_more_job(
    worker: FakeWorker, stock: DrillStock, site: Site, clock: StoppedClock
) -> None:
    draw_for(worker, list(range(1000)))
    for _ in LEVELS:
        await stock.fill_once()
    wanted = Wanted(name_generators(stock._read_course().drills), 1)
    for _ in range(DRAWS_A_JOB):
        taken = await stock.take(ADA, wanted)
        assert taken is not None
        await site.store.answer_drill(ADA, taken.stored.id, Answer("sums", QuestionResponse(), True, clock()))
    assert await stock.fill_once()
    assert not await stock.fill_once()
    assert await stock.take(ADA, wanted) is not None


async def test_a_drill_that_cannot_be_drawn_is_left_alone_for_a_while(worker: FakeWorker, stock: DrillStock) -> None:
    worker.end = lambda job: RunEnd(outcome=Outcome.RUNTIME_ERROR)
    assert [await stock.fill_once() for _ in range(len(LEVELS) + 1)] == [False] * (len(LEVELS) + 1)
    assert len(worker.jobs) == len(LEVELS)


async def test_a_failure_that_nobody_foresaw_does_not_end_the_filling(
    worker: FakeWorker, site: Site, clock: StoppedClock, caplog: pytest.LogCaptureFixture
) -> None:
    """A database that cannot be read raises more than the refusals that the ledger names."""
    readable = iter([False, True])

    def read_course() -> Course:
        if not next(readable, True):
            raise OSError("the disk is gone")
        return site.read_course()

    draw_for(worker, list(range(1000)))
    stock = DrillStock(site.store.drill_graphs, site.ledger, read_course, clock)
    assert await stock._fill_and_rest() == AFTER_FAILURE_SECONDS
    assert "the disk is gone" in caplog.text
    assert await stock._fill_and_rest() == PAUSE_SECONDS
