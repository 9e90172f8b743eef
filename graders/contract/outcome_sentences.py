"""The outcomes that no judge decides, in the words that ledger, grader and website use for them."""

from collections.abc import Mapping
from typing import overload

from graders.contract.jobs import GradeJob, RunJob
from graders.contract.model import ExerciseName
from graders.contract.results import Finding, Mistake, Outcome, RunEnd, Verdict

UNJUDGED: Mapping[Outcome, Finding] = {
    Outcome.CANCELLED: Finding(code="cancelled", short="You stopped this run."),
    Outcome.SUPERSEDED: Finding(
        code="superseded", short="This was not judged, because you sent a newer submission before its turn came."
    ),
    Outcome.GRADER_FAULT: Finding(
        code="grader-fault",
        short="The grader failed. That is our fault, and it cost you no attempt.",
        long="Send it again; the grader's log tells the operator what went wrong.",
    ),
}
"""None of these counts an attempt, and none is caused by the learner's code."""
MACHINE_BUSY = Finding(
    code="machine-busy",
    short="This machine was too busy to run your code in time. This is our fault and costs no attempt.",
    long="Try again in a moment.",
)
"""For a GRADER_FAULT after the run twice waited for a processor until its time was over."""


CHECK_STUMBLED = "check-stumbled"
PROVOKABLE = frozenset({CHECK_STUMBLED})
"""Findings of a GRADER_FAULT that a submission can cause at will. They are counted apart and raise no alarm."""


def find_stumble(mistake: Mistake) -> Finding:
    """For a GRADER_FAULT because the exercise's check was not prepared for what the learner's code gave it."""
    return Finding(
        code=CHECK_STUMBLED,
        short="Our check could not handle what your code gave it. This is our fault and costs no attempt.",
        long=f"It stopped with {mistake.type}: {mistake.message or 'no message'}. It should have told you what it "
        "expected there. Compare the names and types that your code gives with those in the task.",
    )


def find_other_version(exercise: ExerciseName) -> Finding:
    """The finding for a submission to a version of an exercise that no grader has."""
    return Finding(
        code="other-version",
        short=f"The grader has a different version of {exercise} from the website's.",
        long="That is our fault, and it cost you no attempt. Send it again in a minute.",
    )


@overload
def make_end(job: GradeJob, outcome: Outcome, finding: Finding | None = None) -> Verdict: ...


@overload
def make_end(job: RunJob, outcome: Outcome, finding: Finding | None = None) -> RunEnd: ...


@overload
def make_end(job: GradeJob | RunJob, outcome: Outcome, finding: Finding | None = None) -> Verdict | RunEnd: ...


def make_end(job: GradeJob | RunJob, outcome: Outcome, finding: Finding | None = None) -> Verdict | RunEnd:
    """The result of a job that was not judged, with the outcome's usual words if there is no `finding`."""
    finding = finding or UNJUDGED[outcome]
    if isinstance(job, GradeJob):
        return Verdict(outcome=outcome, exercise=job.exercise, finding=finding, public_only=job.public_only)
    return RunEnd(outcome=outcome, finding=finding)
