"""One learner's grades in one section, each with its reason, as a table. No I/O."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from app.course.model import Course
from app.learning.deadlines import say_moment
from app.learning.grade_sentences import say_due, say_points, say_worth
from app.learning.grading import Assignment, GradeState, Policy
from app.storage.handed_in import ClassWork
from app.storage.records import AccountId
from app.web.views.assigned import find_href, say_kind
from app.web.views.grades import Graded, grade_all

NOBODY = AccountId("")
"""Who has no work, for a preview."""


@dataclass(frozen=True)
class GradeRow:
    """`points` is a dash where there is no grade yet. `granted` says what the learner was given beyond the dates."""

    href: str
    title: str
    kind: str
    has_deadline: bool
    due: str
    due_here: str
    """The due date on the reader's own clock, if that differs."""
    points: str
    maximum: str
    why: str
    now: str
    """What handing something in now would count; empty where nothing needs saying."""
    granted: str


@dataclass(frozen=True)
class GradeTable:
    section: str
    rows: tuple[GradeRow, ...]
    total: str
    total_of: str
    """The points of what is graded already, excused assignments left out."""
    zone: str
    rule: str


def show_grades(
    course: Course,
    section: str,
    policy: Policy,
    assigned: Sequence[Assignment],
    work: ClassWork | None = None,
    account: AccountId = NOBODY,
    *,
    now: datetime,
    own_zone: ZoneInfo | None = None,
) -> GradeTable:
    grades = grade_all(course, policy, assigned, [account], work or ClassWork(), now)
    found = [(one, grades[one.id, account]) for one in assigned]
    counted = [(one, graded) for one, graded in found if graded.grade.points is not None]
    return GradeTable(
        section=section,
        rows=tuple(_show_row(course, one, graded, now, own_zone) for one, graded in found),
        total=say_points(sum(graded.grade.points or 0 for _, graded in counted)),
        total_of=say_points(sum(one.points for one, _ in counted)),
        zone=str(policy.zone),
        rule=_say_rule(policy),
    )


def _show_row(course: Course, one: Assignment, graded: Graded, now: datetime, own_zone: ZoneInfo | None) -> GradeRow:
    terms = graded.terms
    return GradeRow(
        href=find_href(course, one),
        title=one.title,
        kind=say_kind(one),
        has_deadline=terms.due_at is not None,
        due=say_due(terms).removeprefix("due "),
        due_here=say_own_time(terms.due_at, terms.zone, own_zone),
        points=graded.points,
        maximum=say_points(one.points),
        why=graded.sentence,
        now=say_now(graded, now),
        granted=_say_granted(one, graded),
    )


def say_now(graded: Graded, now: datetime) -> str:
    """What handing something in now would count; empty where nothing more can be earned anyway."""
    grade = graded.grade
    if grade.state in (GradeState.OVERRIDDEN, GradeState.EXCUSED) or grade.missing:
        return ""
    if grade.state is GradeState.EARNED and grade.is_final:
        return ""
    return say_worth(graded.terms, sum(grade.used.values()), now)


def say_own_time(at: datetime | None, zone: ZoneInfo, own_zone: ZoneInfo | None) -> str:
    """The moment on the reader's own clock; empty if that shows the same, or is not known."""
    if at is None or own_zone is None or at.astimezone(own_zone).utcoffset() == at.astimezone(zone).utcoffset():
        return ""
    return say_moment(at, own_zone)


def _say_granted(one: Assignment, graded: Graded) -> str:
    """What was granted to this person, with its reason."""
    terms = graded.terms
    if terms.is_excused or not terms.reason:
        return ""
    granted = []
    if terms.due_at != one.due_at and one.due_at is not None:
        granted.append(f"extended from {say_moment(one.due_at, terms.zone)}")
    if terms.closes_at is not None and terms.closes_at not in (one.closes_at, terms.due_at):
        granted.append(f"open until {say_moment(terms.closes_at, terms.zone)}")
    if terms.attempts != one.attempts:
        granted.append(f"{terms.attempts} attempts instead of {one.attempts}")
    return f"For you: {', '.join(granted)}. Reason: {terms.reason}" if granted else ""


def _say_rule(policy: Policy) -> str:
    percent, minutes = policy.late_percent_a_day, int(policy.grace.total_seconds() // 60)
    grace = f" The first {minutes} minutes after a deadline are free." if minutes else ""
    late = f"{percent} % off for each day late" if percent else "nothing off for being late"
    return f"Unless an assignment says otherwise: {late}.{grace}"
