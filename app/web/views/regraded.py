"""What judging again came to, in words: for the instructor before it counts, and for the learner after. No I/O."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from zoneinfo import ZoneInfo

from app.learning.deadlines import say_moment
from app.learning.grading import Assignment
from app.storage.gradebook import GradebookPerson
from app.storage.handed_in import ClassWork
from app.storage.records import AccountId, SectionId
from app.storage.regraded import Regraded, Result, is_better
from app.storage.regrades import Item, RegradePolicy, replaces
from app.web.views.gradebook import Grades
from app.web.views.outcomes import NAMES
from graders.contract.model import SubmissionId
from graders.contract.results import Outcome
from graders.ledger.queries import NO_ATTEMPT


class Change(StrEnum):
    """What judging again said about one submission."""

    WAITING = "waiting"
    RAISED = "raised"
    LOWERED = "lowered"
    UNCHANGED = "unchanged"
    FAULT = "failed by our fault"


@dataclass(frozen=True)
class RegradeRow:
    """`points_before` and `points_after` are of the whole grade, which another submission may decide."""

    name: str
    href: str
    submitted_at: str
    before: str
    after: str
    change: str
    counts: bool
    points_before: str
    points_after: str


@dataclass(frozen=True)
class RegradedRow:
    """For the learner. `href` is the submission's page; `counts` says what the new result means for the grade."""

    title: str
    section: str
    href: str
    before: str
    after: str
    counts: str
    reason: str
    applied_at: str


def say_result(result: Result) -> str:
    words = NAMES[Outcome(result.outcome)]
    return f"{words}, {result.passed} of {result.total} cases" if result.total else words


def find_change(item: Item) -> Change:
    if item.after is None:
        return Change.WAITING
    if item.after.outcome in NO_ATTEMPT:
        return Change.FAULT
    if is_better(item.after, item.before):
        return Change.RAISED
    return Change.LOWERED if is_better(item.before, item.after) else Change.UNCHANGED


def count_changes(items: Collection[Item]) -> Mapping[Change, int]:
    found = [find_change(item) for item in items]
    return {change: found.count(change) for change in Change}


def say_counts(counts: Mapping[Change, int]) -> str:
    found = [f"{count} {change.value}" for change, count in counts.items() if count]
    return f"{', '.join(found)}." if found else "Nothing is left of it: its learners were erased."


def say_change(item: Item, policy: RegradePolicy) -> str:
    change = find_change(item)
    stays = change is Change.LOWERED and policy is RegradePolicy.RAISE
    return "lower, so the first stays" if stays else change.value


def change_work(work: ClassWork, items: Collection[Item], policy: RegradePolicy) -> ClassWork:
    """The work as it will count once the regrade is applied."""
    earned = {item.submission: item.after.earned for item in items if item.after and replaces(item, policy)}
    changed = {
        cell: [one._replace(earned=earned.get(SubmissionId(one.id), one.earned)) for one in attempts]
        for cell, attempts in work.handed_in.items()
    }
    return replace(work, handed_in=changed)


def show_rows(
    section: SectionId,
    assignment: Assignment,
    items: Collection[Item],
    people: Collection[GradebookPerson],
    zone: ZoneInfo,
    policy: RegradePolicy,
    grades: tuple[Grades, Grades],
) -> tuple[RegradeRow, ...]:
    """The changed ones first. `grades` are those before and after applying."""
    order = (Change.RAISED, Change.LOWERED, Change.FAULT, Change.WAITING, Change.UNCHANGED)
    names = {person.account: person.name for person in people}
    rows = []
    for item in sorted(items, key=lambda item: (order.index(find_change(item)), names.get(item.account, ""))):
        points = [found[assignment.id, item.account].points for found in grades]
        rows.append(
            RegradeRow(
                name=names.get(item.account, "somebody who left"),
                href=f"/desk/{section}/submissions/{item.submission}",
                submitted_at=say_moment(item.submitted_at, zone),
                before=say_result(item.before),
                after="" if item.after is None else say_result(item.after),
                change=say_change(item, policy),
                counts=item.counts,
                points_before=points[0],
                points_after=points[1],
            )
        )
    return tuple(rows)


def accounts_of(items: Collection[Item]) -> tuple[AccountId, ...]:
    return tuple(dict.fromkeys(item.account for item in items))


def show_regraded(found: Sequence[Regraded]) -> tuple[RegradedRow, ...]:
    """Newest first."""
    return tuple(_show_regraded(one) for one in reversed(found))


def _show_regraded(one: Regraded) -> RegradedRow:
    counts = "The new result counts." if one.counts else "Your grade stays as it was."
    return RegradedRow(
        title=one.assignment,
        section=one.section,
        href=f"/exercises/{one.exercise}/submissions/{one.submission}",
        before=say_result(one.before),
        after=say_result(one.after),
        counts=counts,
        reason=one.reason,
        applied_at=say_moment(one.applied_at, ZoneInfo(one.zone)),
    )
