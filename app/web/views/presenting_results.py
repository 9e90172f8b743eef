"""Verdicts and runs as views, in the words and the order that a reader needs."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo

from app.course.language.code import highlight
from app.course.model import Exercise
from app.web.edge.figures import RunPicture
from app.web.edge.frame import Link
from app.web.views import result_views as views
from app.web.views.blocks import PredictView
from app.web.views.case_graphs import show_case_graph
from app.web.views.diffs import compare_whole
from app.web.views.outcomes import HEADLINES, PUBLIC_CHECKS_HELD, WRONG_DIAGNOSIS
from app.web.views.schedules import show_schedule
from app.web.views.steps import CodeLineView
from graders.contract.jobs import Diagnosed, GradeJob
from graders.contract.results import CaseResult, Difference, Finding, Measure, Mistake, Outcome, RunEnd, Verdict
from graders.ledger import QueuePosition, State, Submission

REFRESH_SECONDS = 2
FULL_DIGITS = 1000
NO_GRADER = "No grader is running just now. Your code is kept, and runs as soon as one starts."


def show_moment(moment: datetime, zone: tzinfo = UTC) -> str:
    """The time in a readable form that is also valid in a datetime attribute."""
    return moment.astimezone(zone).isoformat(" ", "minutes").replace("+00:00", "Z")


def show_status(state: State, position: QueuePosition) -> str:
    if state is State.FINISHED:
        return "finished"
    if state is State.RUNNING:
        return "Running in the sandbox …"
    if not position.is_served:
        return NO_GRADER
    return "Waiting for a grader" if position.ahead == 0 else f"Waiting: {position.ahead} before yours"


def show_finding(finding: Finding | None) -> views.FindingView | None:
    return None if finding is None else views.FindingView(finding.short, finding.long)


def show_mistake(mistake: Mistake | None) -> views.MistakeView | None:
    return (
        None if mistake is None else views.MistakeView(mistake.type, mistake.message, mistake.line, mistake.traceback)
    )


def show_measures(measures: tuple[Measure, ...]) -> tuple[views.MeasureView, ...]:
    return tuple(
        views.MeasureView(
            name=measure.name,
            value=write_number(measure.value),
            unit=measure.unit,
            measured_by=measure.measured_by.value,
            most="" if measure.most is None else write_number(measure.most),
        )
        for measure in measures
    )


def write_number(value: float) -> str:
    """Three significant digits; a whole number is written in full."""
    return f"{value:,.0f}" if value.is_integer() or abs(value) >= FULL_DIGITS else f"{value:.3g}"


def show_code(source: str, mistake: Mistake | None) -> tuple[CodeLineView, ...]:
    """Learners' code line by line, coloured; the line that raised is marked."""
    marked = mistake.line if mistake else None
    return tuple(
        CodeLineView(number, highlight(line), number == marked)
        for number, line in enumerate(source.rstrip("\n").split("\n"), 1)
    )


def show_cases(cases: tuple[CaseResult, ...], id_prefix: str = "case") -> tuple[views.CaseView, ...]:
    """The first failing case first; the others keep their order. A hidden case shows no values.

    `id_prefix` begins the ids inside the cases' pictures.
    """
    first_failing = next((case for case in cases if not case.passed), None)
    ordered = sorted(cases, key=lambda case: case is not first_failing)
    return tuple(_show_case(case, f"{id_prefix}-{number}") for number, case in enumerate(ordered))


def _show_case(case: CaseResult, id_prefix: str) -> views.CaseView:
    view = views.CaseView(case.name, case.idea, case.passed, case.public, "", "", "", show_finding(case.finding))
    if not case.public:
        return view
    return replace(
        view,
        input=case.input,
        got=case.got,
        expected=case.expected,
        difference=show_difference(case.difference),
        graph=show_case_graph(case.graph, id_prefix) if case.graph and not case.passed else None,
        measures=show_measures(case.measures),
        schedule=show_schedule(case.schedule, case.measures),
    )


def show_difference(difference: Difference | None) -> views.DifferenceView | None:
    if difference is None:
        return None
    index = f"[{', '.join(map(str, difference.index))}]" if difference.index else ""
    others = "1 more element differs" if difference.others == 1 else f"{difference.others} more elements differ"
    return views.DifferenceView(
        place=f"{difference.label} in {difference.name}" if difference.label else difference.name + index,
        is_part=bool(index),
        got=difference.got,
        expected=difference.expected,
        off_by="" if difference.off_by is None else f"{difference.off_by:+.6g}",
        others=others if difference.others else "",
    )


@dataclass(frozen=True)
class AfterPass:
    """What may be shown once a submission has passed; it is not read from the exercise's folder before that."""

    reference: str
    others: tuple[tuple[str, str], ...] = ()
    """For each other right answer, the reason for it and its source."""


def show_submission(
    submission: Submission,
    exercise: Exercise,
    position: QueuePosition,
    after_pass: AfterPass | None,
    next_step: Link | None = None,
    zone: tzinfo = UTC,
) -> views.SubmissionView:
    """`after_pass` and `next_step` are given only after a pass. Times are on the clocks of `zone`."""
    back = Link(f"/exercises/{exercise.name}", exercise.manifest.title)
    verdict = submission.result if isinstance(submission.result, Verdict) else None
    waiting = views.SubmissionView(
        id=submission.id,
        href=f"{back.href}/submissions/{submission.id}",
        events_href=f"/api/submissions/{submission.id}/events",
        exercise=back,
        finished=verdict is not None,
        status=show_status(submission.state, position),
        ahead=position.ahead,
        estimate_seconds=position.estimate_seconds,
        refresh_seconds=0 if verdict else REFRESH_SECONDS,
        submitted_at=show_moment(submission.submitted_at, zone),
        public_only=isinstance(submission.job, GradeJob) and submission.job.public_only,
        said=show_said(submission, exercise),
        next_step=next_step,
    )
    return waiting if verdict is None else _show_verdict(waiting, submission, verdict, exercise, after_pass)


def _show_verdict(
    waiting: views.SubmissionView,
    submission: Submission,
    verdict: Verdict,
    exercise: Exercise,
    after_pass: AfterPass | None,
) -> views.SubmissionView:
    source = submission.job.source
    passed = verdict.outcome is Outcome.PASSED and not waiting.public_only
    held = waiting.public_only and verdict.outcome is Outcome.OK
    return replace(
        waiting,
        outcome=verdict.outcome.value,
        passed=passed,
        held=held,
        ours=verdict.outcome is Outcome.GRADER_FAULT,
        headline=_choose_headline(verdict, held),
        finding=show_finding(verdict.finding),
        cases=show_cases(verdict.cases, f"case-{submission.id[:12]}"),
        cases_total=verdict.cases_total,
        cases_passed=verdict.cases_passed,
        mistake=show_mistake(verdict.mistake),
        stdout=verdict.stdout,
        stderr=verdict.stderr,
        untimed=verdict.untimed,
        measures=show_measures(verdict.measures),
        profile=verdict.profile,
        code=show_code(source, verdict.mistake),
        reference=show_reference(source, exercise, after_pass) if passed and after_pass else None,
    )


def _choose_headline(verdict: Verdict, held: bool) -> str:
    if held:
        return PUBLIC_CHECKS_HELD
    return WRONG_DIAGNOSIS if verdict.diagnosis_right is False else HEADLINES[verdict.outcome]


def show_said(submission: Submission, exercise: Exercise) -> views.SaidView | None:
    """The learner's diagnosis in a bug hunt, whether right or wrong."""
    job, asked = submission.job, exercise.manifest.diagnosis
    if asked is None or not isinstance(job, GradeJob) or job.public_only:
        return None
    said = job.diagnosed or Diagnosed()
    right = submission.result.diagnosis_right if isinstance(submission.result, Verdict) else None
    lines = show_lines(exercise.starter, (said.line,) if said.line else ())
    return views.SaidView(asked.categories.get(said.category or "", ""), lines, right)


def show_lines(source: str, numbers: tuple[int, ...]) -> tuple[CodeLineView, ...]:
    """Some lines of a text, coloured; numbers beyond its end are skipped."""
    lines = source.split("\n")
    return tuple(
        CodeLineView(number, highlight(lines[number - 1]), False) for number in numbers if 1 <= number <= len(lines)
    )


def show_run(
    run: Submission,
    back: Link,
    position: QueuePosition,
    drawn: RunPicture,
    resolved: tuple[PredictView, ...],
) -> views.RunView:
    end = run.result if isinstance(run.result, RunEnd) else None
    waiting = views.RunView(
        id=run.id,
        href=f"/runs/{run.id}",
        stop_action=f"/runs/{run.id}/stop",
        back=back,
        finished=end is not None,
        status=show_status(run.state, position),
        refresh_seconds=0 if end else REFRESH_SECONDS,
        code=show_code(run.job.source, end.mistake if end else None),
    )
    if end is None:
        return waiting
    return replace(
        waiting,
        outcome=end.outcome.value,
        ok=end.outcome is Outcome.OK,
        headline=HEADLINES[end.outcome],
        finding=show_finding(end.finding),
        mistake=show_mistake(end.mistake),
        stdout=end.stdout,
        stderr=end.stderr,
        truncated=end.output_truncated,
        svg=drawn.figure.svg if drawn.figure else "",
        text=drawn.figure.text if drawn.figure else "",
        trace_note=drawn.note,
        measures=show_measures(end.measures),
        resolved=resolved,
    )


def show_reference(source: str, exercise: Exercise, after_pass: AfterPass) -> views.ReferenceView:
    asked = exercise.manifest.diagnosis
    return views.ReferenceView(
        html=highlight(after_pass.reference),
        beside=compare_whole(source, after_pass.reference),
        others=tuple(views.OtherWayView(why, highlight(text)) for why, text in after_pass.others),
        fault=views.SaidView(asked.categories[asked.answer], show_lines(exercise.starter, asked.lines), True)
        if asked
        else None,
    )
