"""A learner's submissions to an exercise: the list, the difference between two of them, and restoring one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo

from app.course.model import Exercise
from app.web.views.diffs import ComparisonView, compare_briefly
from app.web.views.outcomes import NAMES
from app.web.views.presenting_results import show_measures, show_moment
from app.web.views.result_views import MeasureView
from graders.contract.jobs import GradeJob
from graders.contract.model import SubmissionId
from graders.contract.results import CARD_MEMORY, MEDIAN_TIME, Measure, Outcome, Verdict
from graders.ledger import Submission

MAX_SHOWN = 200
STATE_WORDS = {"queued": "waiting", "running": "running"}
NO_COMMENTS: Mapping[SubmissionId, int] = {}
STARTER = "starter"
"""Compare a submission with the starter instead of another submission."""


@dataclass(frozen=True)
class SubmissionRow:
    """One line of the history; `passed` is None if it is not finished or was not an attempt.

    `number` counts from the learner's first. `finding` is a sentence; `said` is a bug hunt's diagnosis.
    """

    number: int
    href: str
    submitted_at: str
    status: str
    passed: bool | None
    cases_passed: int
    cases_total: int
    finding: str = ""
    said: str = ""
    rank: str = ""
    """Of a lab that is timed: its place among the learner's own right answers."""
    measures: tuple[MeasureView, ...] = ()
    new_comments: int = 0
    """How many comments on it the learner has not seen yet."""


@dataclass(frozen=True)
class AgainstOption:
    value: str
    label: str
    chosen: bool


@dataclass(frozen=True)
class CompareView:
    """A submission beside another text. `action` takes `against` by GET; `restore_action` takes nothing, by POST.

    `restore_action` is empty for a reader whose submission it is not.
    `lines` has no rows if the texts are equal.
    """

    action: str
    restore_action: str
    options: tuple[AgainstOption, ...]
    against: str
    lines: ComparisonView


def show_history(
    exercise: Exercise,
    history: Sequence[Submission],
    new_comments: Mapping[SubmissionId, int] = NO_COMMENTS,
    zone: tzinfo = UTC,
) -> tuple[SubmissionRow, ...]:
    """The rows of the history, newest first like `history`, with times on the clocks of `zone`."""
    total = len(history)
    ranks = rank_times(exercise, history)
    rows = (_show_row(exercise, submission, total - place, zone) for place, submission in enumerate(history))
    return tuple(
        replace(row, new_comments=new_comments.get(submission.id, 0), rank=ranks.get(submission.id, ""))
        for row, submission in zip(rows, history, strict=True)
    )


def _show_row(exercise: Exercise, submission: Submission, number: int, zone: tzinfo) -> SubmissionRow:
    verdict = submission.result if isinstance(submission.result, Verdict) else None
    counts = verdict is not None and verdict.costs_an_attempt
    return SubmissionRow(
        number=number,
        href=f"/exercises/{exercise.name}/submissions/{submission.id}",
        submitted_at=show_moment(submission.submitted_at, zone),
        status=name_outcome(verdict) if verdict else STATE_WORDS.get(submission.state, submission.state),
        passed=verdict.outcome is Outcome.PASSED if verdict and counts else None,
        cases_passed=verdict.cases_passed if verdict else 0,
        cases_total=verdict.cases_total if verdict else 0,
        finding=verdict.finding.short if verdict and verdict.finding else "",
        said=_write_said(exercise, submission),
        measures=show_measures(charted_measures(exercise, verdict)) if verdict else (),
    )


def rank_times(exercise: Exercise, history: Sequence[Submission]) -> dict[SubmissionId, str]:
    """For a lab that is timed: the place of each right answer of these by its median time, in words."""
    if exercise.manifest.benchmark is None:
        return {}
    times: dict[SubmissionId, float] = {}
    for submission in history:
        verdict = submission.result
        if isinstance(verdict, Verdict) and verdict.outcome is Outcome.PASSED:
            for measure in verdict.measures:
                if measure.name == MEDIAN_TIME:
                    times[submission.id] = measure.value
    ordered = sorted(times, key=lambda submission: times[submission])
    return {
        submission: f"number {place} of your {len(ordered)} right answers by its time"
        for place, submission in enumerate(ordered, 1)
        if len(ordered) > 1
    }


def name_outcome(verdict: Verdict) -> str:
    return "right code, wrong diagnosis" if verdict.diagnosis_right is False else NAMES[verdict.outcome]


def _write_said(exercise: Exercise, submission: Submission) -> str:
    asked, job = exercise.manifest.diagnosis, submission.job
    if asked is None or not isinstance(job, GradeJob) or job.diagnosed is None:
        return ""
    kind = asked.categories.get(job.diagnosed.category or "", "no kind of fault")
    line = f"line {job.diagnosed.line}" if job.diagnosed.line else "no line"
    return f"{line}: {kind}"


def charted_measures(exercise: Exercise, verdict: Verdict) -> tuple[Measure, ...]:
    """The measures of the charted case; without a chart, the processor time and peak memory of the whole run."""
    chart = exercise.manifest.chart
    if exercise.manifest.benchmark is not None:
        return tuple(measure for measure in verdict.measures if measure.name in (MEDIAN_TIME, CARD_MEMORY))
    if chart is None:
        return tuple(measure for measure in verdict.measures if measure.name in ("cpu", "peak memory"))
    return next((case.measures for case in verdict.cases if case.name == chart.case), ())


def compare(
    exercise: Exercise, submission: Submission, history: Sequence[Submission], against: str, zone: tzinfo = UTC
) -> CompareView:
    """Compare two texts. `against` is a submission's id or the starter; anything else means the submission before.

    `history` is newest first.
    """
    numbered = [(len(history) - place, each) for place, each in enumerate(history)]
    mine = next((number for number, each in numbered if each.id == submission.id), 0)
    before = next((each.id for number, each in numbered if number < mine), STARTER)
    known = {STARTER, *(each.id for _, each in numbered if each.id != submission.id)}
    wanted = against if against in known else before
    other = next((each.job.source for _, each in numbered if each.id == wanted), exercise.starter)
    options = [
        AgainstOption(each.id, _label(number, each, mine, zone), each.id == wanted)
        for number, each in numbered
        if each.id != submission.id
    ]
    options.append(AgainstOption(STARTER, "the starter", wanted == STARTER))
    base = f"/exercises/{exercise.name}/submissions/{submission.id}"
    return CompareView(
        action=base,
        restore_action=f"{base}/restore",
        options=tuple(options),
        against=next(option.label for option in options if option.chosen),
        lines=compare_briefly(other, submission.job.source),
    )


def _label(number: int, submission: Submission, mine: int, zone: tzinfo) -> str:
    verdict = submission.result if isinstance(submission.result, Verdict) else None
    outcome = f", {name_outcome(verdict)}" if verdict else ""
    when = "the one before, " if number == mine - 1 else ""
    return f"{when}number {number}{outcome}, {show_moment(submission.submitted_at, zone)}"
