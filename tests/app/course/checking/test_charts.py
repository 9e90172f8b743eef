"""A chart's plans are held against what was measured: counts exactly, a kernel’s peak with the room it needs."""

from pathlib import Path

import pytest

from app.course.checking.charts import check_chart, judge_plans
from app.course.model import Exercise
from app.course.problems import Report
from graders.contract.chart import FORWARDS, HELD, Chart, Plan
from graders.contract.jobs import Flavour
from graders.contract.limits import Limits
from graders.contract.manifest import Attempt, Difficulty, FindingText, Manifest
from graders.contract.model import ExerciseName
from graders.contract.results import CaseResult, Measure, MeasuredBy, Outcome, Verdict

KEEPS_ALL = Plan(name="keep everything", file="attempts/keeps_all.py", forwards=16, held=19)
BEST = Plan(name="the best", file="solution.py", forwards=28, held=9, best=True)


def exercise_with(*plans: Plan, most_forwards: int | None = 28, most_held: float | None = 9) -> Exercise:
    attempt = Attempt(file="keeps_all.py", outcome=Outcome.OVER_BUDGET, why="holds all")
    manifest = Manifest(
        format=1,
        title="t",
        summary="s",
        kind="k",
        difficulty=Difficulty.STEADY,
        minutes=5,
        concepts=(),
        flavour=Flavour.PLAIN,
        limits=Limits(),
        chart=Chart(case="sixteen", most_forwards=most_forwards, most_held=most_held, plans=plans),
        findings={"f": FindingText(short="f")},
        attempts=(attempt,),
    )
    return Exercise("chain", Path("exercises/chain"), manifest, "", (), "")


def verdict_with(forwards: float, held: float, by: MeasuredBy = MeasuredBy.JUDGE, case: str = "sixteen") -> Verdict:
    measures = (
        Measure(name=FORWARDS, value=forwards, unit="steps", measured_by=MeasuredBy.JUDGE, most=28),
        Measure(name=HELD, value=held, unit="units", measured_by=by, most=9),
    )
    result = CaseResult(name=case, idea="", passed=True, public=True, measures=measures)
    return Verdict(outcome=Outcome.PASSED, exercise=ExerciseName("chain"), cases=(result,))


def say(exercise: Exercise, file: str, verdict: Verdict) -> list[tuple[str, str]]:
    return [(problem.value, problem.remedy) for problem in judge_plans(exercise, file, 7, verdict).problems]


def test_a_plan_that_costs_what_it_says_holds():
    exercise = exercise_with(KEEPS_ALL, BEST)
    assert say(exercise, "solution.py", verdict_with(28, 9)) == []
    assert say(exercise, "attempts/keeps_all.py", verdict_with(16, 19)) == []


@pytest.mark.parametrize(
    ("forwards", "held", "problem"),
    [
        (29, 9, ("28", "write forwards = 29")),
        (28, 8, ("9", "write held = 8")),
        (28, 9.01, ("9", "write held = 9.01")),
    ],
)
def test_what_a_machine_counted_has_to_agree_exactly(forwards, held, problem):
    assert say(exercise_with(BEST), "solution.py", verdict_with(forwards, held)) == [problem]


@pytest.mark.parametrize(("held", "holds"), [(11.45, True), (6.74, True), (11.46, False), (6.73, False)])
def test_a_kernels_peak_may_be_four_percent_and_two_units_off(held, holds):
    assert (say(exercise_with(BEST), "solution.py", verdict_with(28, held, MeasuredBy.KERNEL)) == []) is holds


def test_only_the_plans_of_the_file_that_ran_are_judged():
    assert say(exercise_with(KEEPS_ALL, BEST), "attempts/another.py", verdict_with(1, 1)) == []


def test_a_plan_without_measures_is_told_so():
    problems = judge_plans(exercise_with(BEST), "solution.py", 7, verdict_with(28, 9, case="another")).problems
    assert {(problem.path, problem.line) for problem in problems} == {("exercises/chain/exercise.toml", 7)}
    assert [problem.value for problem in problems] == ["most_forwards", "most_held", "the best", "the best"]


def test_budgets_of_the_chart_are_those_of_the_case():
    exercise = exercise_with(BEST, most_forwards=None, most_held=10)
    assert say(exercise, "solution.py", verdict_with(28, 9)) == [
        ("most_forwards", "write most_forwards = 28"),
        ("most_held", "write most_held = 9"),
    ]


def test_a_plan_names_the_solution_or_an_attempt():
    text = 'title = "t"\n[[chart.plans]]\nfile = "attempts/gone.py"\n'
    report = Report("exercise.toml")
    check_chart(
        exercise_with(BEST, Plan(name="x", file="attempts/gone.py", forwards=1, held=1)).manifest, text, report
    )
    assert [(problem.line, problem.value) for problem in report.problems] == [(3, "attempts/gone.py")]
