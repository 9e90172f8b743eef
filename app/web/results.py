"""Results as views: verdicts and runs in the words and the order in which a reader needs them."""

import difflib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

from app.course.code import highlight
from app.web import blocks as views
from app.web.figures import Drawn
from app.web.outcomes import HEADLINES
from app.web.page import Place
from graders.contract.results import CaseResult, Finding, Measure, Mistake, Outcome, RunEnd, Verdict
from graders.ledger import State, Submission

REFRESH_SECONDS = 2


def show_moment(moment: datetime) -> str:
    """A time that reads well and is valid in a datetime attribute."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%MZ")


def count_ahead(place: int) -> int:
    """How many stand before it: the ledger calls the next to run 1, and what is not queued 0."""
    return max(place - 1, 0)


def show_status(state: State, ahead: int) -> str:
    if state is State.FINISHED:
        return "finished"
    if state is State.RUNNING:
        return "Running in the sandbox …"
    return "Waiting for a grader" if ahead == 0 else f"Waiting: {ahead} before yours"


def show_finding(finding: Finding | None) -> views.FindingView | None:
    return None if finding is None else views.FindingView(finding.short, finding.long)


def show_mistake(mistake: Mistake | None) -> views.MistakeView | None:
    return (
        None if mistake is None else views.MistakeView(mistake.type, mistake.message, mistake.line, mistake.traceback)
    )


def show_measures(measures: tuple[Measure, ...]) -> tuple[views.MeasureView, ...]:
    return tuple(views.MeasureView(m.name, f"{m.value:.3g}", m.unit, m.measured_by.value) for m in measures)


def show_code(source: str, mistake: Mistake | None) -> tuple[views.CodeLineView, ...]:
    """Learners' code line by line, coloured; the line that raised is marked."""
    marked = mistake.line if mistake else None
    return tuple(
        views.CodeLineView(number, highlight(line), number == marked)
        for number, line in enumerate(source.rstrip("\n").split("\n"), 1)
    )


def show_cases(cases: tuple[CaseResult, ...]) -> tuple[views.CaseView, ...]:
    """The first failing case first; the others keep their order. A hidden case keeps its values to itself."""
    first_failing = next((case for case in cases if not case.passed), None)
    return tuple(_show_case(case) for case in sorted(cases, key=lambda case: case is not first_failing))


def _show_case(case: CaseResult) -> views.CaseView:
    seen = (case.input, case.got, case.expected) if case.public else ("", "", "")
    return views.CaseView(case.name, case.idea, case.passed, case.public, *seen, show_finding(case.finding))


def show_submission(
    submission: Submission, exercise: Place, ahead: int, estimate_seconds: float, reference: str | None
) -> views.SubmissionView:
    """`reference` is the solution's text, given after a pass only."""
    href = f"{exercise.href}/submissions/{submission.id}"
    verdict = submission.result if isinstance(submission.result, Verdict) else None
    waiting = views.SubmissionView(
        id=submission.id,
        href=href,
        events_href=f"/api/submissions/{submission.id}/events",
        exercise=exercise,
        finished=verdict is not None,
        status=show_status(submission.state, ahead),
        ahead=ahead,
        estimate_seconds=estimate_seconds,
        refresh_seconds=0 if verdict else REFRESH_SECONDS,
        submitted_at=show_moment(submission.submitted_at),
    )
    return waiting if verdict is None else _show_verdict(waiting, submission, verdict, reference)


def _show_verdict(
    waiting: views.SubmissionView, submission: Submission, verdict: Verdict, reference: str | None
) -> views.SubmissionView:
    source = submission.job.source
    passed = verdict.outcome is Outcome.PASSED
    return replace(
        waiting,
        outcome=verdict.outcome.value,
        passed=passed,
        ours=verdict.outcome is Outcome.GRADER_FAULT,
        headline=HEADLINES[verdict.outcome],
        finding=show_finding(verdict.finding),
        cases=show_cases(verdict.cases),
        cases_total=verdict.cases_total,
        cases_passed=verdict.cases_passed,
        mistake=show_mistake(verdict.mistake),
        stdout=verdict.stdout,
        stderr=verdict.stderr,
        measures=show_measures(verdict.measures),
        profile=verdict.profile,
        code=show_code(source, verdict.mistake),
        reference=show_reference(source, reference) if passed and reference is not None else None,
    )


def show_run(
    run: Submission,
    back: Place,
    ahead: int,
    drawn: Drawn,
    resolved: tuple[views.PredictView, ...],
) -> views.RunView:
    end = run.result if isinstance(run.result, RunEnd) else None
    waiting = views.RunView(
        id=run.id,
        href=f"/runs/{run.id}",
        stop_action=f"/runs/{run.id}/stop",
        back=back,
        finished=end is not None,
        status=show_status(run.state, ahead),
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
        svg=drawn.figure.picture.svg if drawn.figure else "",
        text=drawn.figure.picture.text if drawn.figure else "",
        trace_note=drawn.note,
        measures=show_measures(end.measures),
        resolved=resolved,
    )


def show_reference(source: str, reference: str) -> views.ReferenceView:
    return views.ReferenceView(highlight(reference), tuple(_diff_rows(source.splitlines(), reference.splitlines())))


def _diff_rows(left: list[str], right: list[str]) -> Iterator[views.DiffRowView]:
    """The learner's file on the left, the reference on the right, equal lines beside each other."""
    for kind, left_from, left_to, right_from, right_to in difflib.SequenceMatcher(
        None, left, right, autojunk=False
    ).get_opcodes():
        height = max(left_to - left_from, right_to - right_from)
        for offset in range(height):
            here = left_from + offset if left_from + offset < left_to else None
            there = right_from + offset if right_from + offset < right_to else None
            yield views.DiffRowView(
                kind="same" if kind == "equal" else _change(here, there),
                left_number=None if here is None else here + 1,
                left="" if here is None else left[here],
                right_number=None if there is None else there + 1,
                right="" if there is None else right[there],
            )


def _change(here: int | None, there: int | None) -> Literal["changed", "added", "removed"]:
    if here is None:
        return "added"
    return "removed" if there is None else "changed"
