"""A lab's chart has the plans, the budgets and the learner's right answers, and believes no process about itself."""

import json
from datetime import UTC, datetime

import httpx2
import pytest
from site_parts import FakeWorker

from app.course.model import Course, Exercise
from app.web.views.lab_chart import show_chart
from graders.contract.chart import FORWARDS, HELD
from graders.contract.jobs import GradeJob, RunJob
from graders.contract.model import LearnerId, SubmissionId
from graders.contract.results import CaseResult, Measure, MeasuredBy, Outcome, RunEnd, Verdict
from graders.ledger import State, Submission

CASE = "sixteen, without room"


@pytest.fixture
def lab(course: Course) -> Exercise:
    return course.exercises["pull-back"]


def verdict(
    outcome: Outcome,
    forwards: float,
    held: float,
    counted_by: MeasuredBy = MeasuredBy.JUDGE,
    held_by: MeasuredBy = MeasuredBy.JUDGE,
) -> Verdict:
    measures = (
        Measure(name=FORWARDS, value=forwards, unit="steps", measured_by=counted_by),
        Measure(name=HELD, value=held, unit="units", measured_by=held_by),
    )
    case = CaseResult(name=CASE, idea="", passed=outcome is Outcome.PASSED, public=True, measures=measures)
    return Verdict(outcome=outcome, exercise="pull-back", cases=(case,))


def newest_first(*verdicts: Verdict) -> tuple[Submission, ...]:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    return tuple(
        Submission(
            id=SubmissionId(f"number-{number}"),
            learner=LearnerId("me"),
            job=GradeJob(exercise="pull-back", source=""),
            state=State.FINISHED,
            claim_number=1,
            submitted_at=now,
            started_at=now,
            finished_at=now,
            result=result,
        )
        for number, result in reversed(list(enumerate(verdicts, 1)))
    )


def test_plans_and_budgets_stand_before_any_attempt(lab: Exercise) -> None:
    view = show_chart(lab, ())
    assert view

    rows = [(row.name, row.forwards, row.held, row.kept, row.mark) for row in view.rows]
    traces = {trace["name"]: (trace["x"], trace["y"]) for trace in json.loads(view.figure)["data"]}

    assert rows == [
        ("keep everything", "16", "19", False, ""),
        ("keep nothing", "136", "4", False, ""),
        ("one in four", "28", "9", True, "best known"),
    ]
    assert traces["plans"] == ([16, 136], [19.0, 4.0])
    assert traces["best known"] == ([28], [9.0])
    assert traces["budget: held"][1] == [9.0, 9.0]
    assert traces["budget: steps"][0] == [28, 28]
    assert view.budgets == "at most 9 units held at once and 28 forward steps"
    assert view.best == ""


def test_the_best_are_those_that_passed_and_that_none_beats(lab: Exercise) -> None:
    view = show_chart(
        lab,
        newest_first(
            verdict(Outcome.OVER_BUDGET, 16, 19),
            verdict(Outcome.PASSED, 28, 9),
            verdict(Outcome.PASSED, 28, 8),
            verdict(Outcome.PASSED, 27, 9),
            verdict(Outcome.PASSED, 28, 8),
        ),
    )
    assert view

    mine = {row.href.rpartition("/")[2]: (row.kept, row.mark) for row in view.rows if row.href}

    assert mine == {
        "number-1": (False, ""),
        "number-2": (True, ""),
        "number-3": (True, "your best"),
        "number-4": (True, "your best"),
        "number-5": (True, ""),
    }
    assert view.best == "Your best: 9 units held with 27 forward steps; 8 units held with 28 forward steps."


def test_a_wrong_answer_is_no_plan(lab: Exercise) -> None:
    view = show_chart(lab, newest_first(verdict(Outcome.WRONG_ANSWER, 1, 1), verdict(Outcome.GRADER_FAULT, 1, 1)))
    assert view

    assert [row.href for row in view.rows if row.href] == []


def test_what_a_process_says_of_its_own_memory_is_not_drawn(lab: Exercise) -> None:
    forged = verdict(Outcome.PASSED, 1, 1, held_by=MeasuredBy.LEARNER_PROCESS)
    view = show_chart(lab, newest_first(forged))
    assert view

    assert [row.href for row in view.rows if row.href] == []
    assert view.best == ""


def test_steps_that_a_process_counted_itself_make_no_best(lab: Exercise) -> None:
    reported = MeasuredBy.LEARNER_PROCESS
    view = show_chart(
        lab,
        newest_first(
            verdict(Outcome.PASSED, 1, 9, reported, MeasuredBy.KERNEL),
            verdict(Outcome.PASSED, 28, 8, reported, MeasuredBy.KERNEL),
        ),
    )
    assert view

    assert view.reported
    assert [row.mark for row in view.rows if row.href] == ["your best", ""]
    assert view.best == "Your best: 8 units held."


def test_an_exercise_without_a_chart_has_none(course: Course) -> None:
    assert show_chart(course.exercises["double"], ()) is None


async def test_the_page_has_the_chart_as_a_figure_and_as_a_table(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    def end(_: GradeJob | RunJob) -> Verdict | RunEnd:
        return verdict(Outcome.PASSED, 28, 9)

    worker.end = end
    sent = {"source": "x", "idempotency_key": "0123456789abcdef"}
    accepted = (await browser.post("/api/exercises/pull-back/submissions", json=sent)).json()
    await browser.get(accepted["events"])

    page = (await browser.get("/exercises/pull-back")).text

    assert "data-figure=" in page
    assert f'href="/exercises/pull-back/submissions/{accepted["id"]}">yours, number 1' in page
    assert "Your best: 9 units held with 28 forward steps." in page
    assert "Memory against recomputing" not in (await browser.get("/exercises/double")).text
