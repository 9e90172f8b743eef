"""The chart of an exercise, compared with what was measured: every plan must cost what the chart says."""

from collections.abc import Mapping

from app.course.checking.checks import SOLUTION
from app.course.language.toml_file import find_line
from app.course.model import Exercise
from app.course.problems import Report, Rule
from graders.contract.chart import FORWARDS, HELD, Chart, Plan
from graders.contract.manifest import Manifest
from graders.contract.results import Measure, MeasuredBy, Verdict

PEAK_SHARE, PEAK_UNITS = 0.04, 2.0
"""How far a peak measured by the kernel may be from the one in the chart: this share of it, plus these units.

Two runs under load differ by 2 %. Another installation differs by a constant: the memory lab's smallest plan takes
25.2 to 25.8 units with an interpreter in most folders, and 26.7 to 28.1 with one beneath /tmp, in every run.
"""


def check_chart(manifest: Manifest, text: str, report: Report) -> None:
    """Reports plans that name a file that is never run. `text` is exercise.toml."""
    if manifest.chart is None:
        return
    known = {SOLUTION} | {f"attempts/{attempt.file}" for attempt in manifest.attempts}
    for plan in manifest.chart.plans:
        if plan.file not in known:
            message = f"the plan {plan.name!r} names {plan.file}, which is neither the solution nor an attempt"
            remedy = "name one of them; the check runs it and compares the plan's numbers with what it measures"
            report.add(find_line(text, plan.file), Rule.EXERCISE_FILE, plan.file, message, remedy)


def judge_plans(exercise: Exercise, file: str, line: int, verdict: Verdict) -> Report:
    """Problems of the plans in exercise.toml that name `file`, and of the budgets in the chart."""
    report = Report(f"exercises/{exercise.name}/exercise.toml")
    chart = exercise.manifest.chart
    if chart is None:
        return report
    case = next((case for case in verdict.cases if case.name == chart.case), None)
    measures = {measure.name: measure for measure in case.measures} if case else {}
    if file == SOLUTION:
        _judge_budgets(chart, measures, line, report)
    for plan in chart.plans:
        if plan.file == file:
            _judge_plan(plan, chart.case, measures, line, report)
    return report


def _judge_budgets(chart: Chart, measures: Mapping[str, Measure], line: int, report: Report) -> None:
    for name, field, shown in (
        (FORWARDS, "most_forwards", chart.most_forwards),
        (HELD, "most_held", chart.most_held),
    ):
        set_to = measures[name].most if name in measures else None
        if shown != set_to:
            said, is_set = _show(shown), _show(set_to)
            message = f"the chart says {field} = {said}, but the budget of the case {chart.case!r} is {is_set}"
            remedy = f"write {field} = {_show(set_to)}" if set_to is not None else f"take {field} out"
            report.add(line, Rule.EXERCISE_PROOF, field, message, remedy)


def _judge_plan(plan: Plan, case: str, measures: Mapping[str, Measure], line: int, report: Report) -> None:
    for name, field, said in ((FORWARDS, "forwards", float(plan.forwards)), (HELD, "held", plan.held)):
        measure = measures.get(name)
        if measure is None:
            message = f"the plan {plan.name!r} has no measure {name!r}: {plan.file} has none for the case {case!r}"
            remedy = "use a public case that is measured and that the file passes"
            report.add(line, Rule.EXERCISE_PROOF, plan.name, message, remedy)
        elif not _agrees(said, measure):
            message = f"the plan {plan.name!r} says {field} = {said:g}, but {plan.file} takes {measure.value:g}"
            report.add(line, Rule.EXERCISE_PROOF, f"{said:g}", message, f"write {field} = {measure.value:g}")


def _agrees(said: float, measure: Measure) -> bool:
    """Whether the two agree. Counts are exact; what the kernel measures varies between machines."""
    room = PEAK_SHARE * measure.value + PEAK_UNITS if measure.measured_by is MeasuredBy.KERNEL else 0.0
    return abs(said - measure.value) <= room


def _show(budget: float | None) -> str:
    return "nothing" if budget is None else f"{budget:g}"
