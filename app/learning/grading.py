"""Grades: computed whenever they are asked for and never stored, so that no old penalty outlives its deadline. Pure.

What counts is when something was handed in, never when it was judged. A grade is

    points * combine(best(i) for each item i)
    best(i) = max over the counted attempts at i of earned * worth(at)
    worth(at) = max(0, 1 - late_percent / 100 * days late), and 0 before the opening and after the closing

An exercise is one item. The retrieval of a chapter has an item for each question, and its predictions one for each
prediction. `combine` is the mean where a share earns a share, and else the minimum: all of it or nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple
from zoneinfo import ZoneInfo

from app.learning.deadlines import count_days_late, find_end, latest


class Kind(StrEnum):
    """What an assignment asks for: an exercise, a chapter's questions, or a chapter's predictions."""

    EXERCISE = "exercise"
    RETRIEVAL = "retrieval"
    PREDICTIONS = "predictions"


class Counts(StrEnum):
    """What earns credit for a question: a right answer, or any answer. A prediction counts for being done."""

    RIGHT = "right"
    DONE = "done"


class Credit(StrEnum):
    """Whether a part earns a part: of an exercise's cases, or of a chapter's questions or predictions."""

    WHOLE = "whole"
    SHARE = "share"


@dataclass(frozen=True)
class Policy:
    """What a section's assignments have in common. `late_percent_a_day` is taken off for each day late."""

    zone: ZoneInfo
    grace: timedelta = timedelta()
    late_percent_a_day: int = 0


@dataclass(frozen=True)
class Assignment:
    """What a section's learners are to do. A None `late_percent_a_day` is the section's; None `attempts`: no limit.

    Learners see it from `opens_at` on, and nothing from before counts except a prediction, which is made only once.
    """

    id: str
    kind: Kind
    target: str
    title: str
    points: float
    counts: Counts = Counts.RIGHT
    credit: Credit = Credit.WHOLE
    opens_at: datetime | None = None
    due_at: datetime | None = None
    closes_at: datetime | None = None
    late_percent_a_day: int | None = None
    attempts: int | None = None
    position: int = 0
    published: bool = True


@dataclass(frozen=True)
class Allowance:
    """What one person was granted beyond the section's dates. None changes nothing."""

    due_at: datetime | None = None
    closes_at: datetime | None = None
    attempts: int | None = None
    excused: bool = False
    reason: str = ""


@dataclass(frozen=True)
class Override:
    """What a person decided in place of the computed grade. None points withdraw an earlier decision."""

    points: float | None
    reason: str = ""


class HandedIn(NamedTuple):
    """One attempt at one item. `earned` is from 0 to 1, `id` names the submission or answer."""

    at: datetime
    earned: float
    item: str = ""
    id: str = ""


@dataclass(frozen=True)
class Terms:
    """An assignment as it holds for one person: an allowance never takes away days or attempts."""

    assignment: Assignment
    zone: ZoneInfo
    grace: timedelta
    late_percent: int
    opens_at: datetime | None
    due_at: datetime | None
    closes_at: datetime | None
    attempts: int | None
    is_excused: bool = False
    reason: str = ""

    def counts_from(self) -> datetime | None:
        """From when attempts count. A prediction may have been made before, and cannot be made again."""
        return None if self.assignment.kind is Kind.PREDICTIONS else self.opens_at

    def days_late(self, at: datetime) -> int:
        return 0 if self.due_at is None else count_days_late(at, self.due_at, self.zone, self.grace)

    def is_closed(self, at: datetime) -> bool:
        return self.closes_at is not None and at >= find_end(self.closes_at, self.grace)

    def worth(self, at: datetime) -> float:
        """From 0 to 1: what part of the points something handed in `at` can still earn."""
        return self.worth_of(at, self.days_late(at))

    def worth_of(self, at: datetime, days_late: int) -> float:
        """The same, for somebody who has counted the days already."""
        opens = self.counts_from()
        if (opens is not None and at < opens) or self.is_closed(at):
            return 0.0
        return max(0.0, 1 - self.late_percent / 100 * days_late)

    def worth_from(self, now: datetime) -> float:
        """The most that can be earned from `now` on."""
        return self.worth(now if self.opens_at is None else max(now, self.opens_at))


def find_terms(assignment: Assignment, policy: Policy, allowance: Allowance | None = None) -> Terms:
    """What holds for a person. Each deadline is the later one of the section's and the allowance's."""
    granted = allowance or Allowance()
    percent = assignment.late_percent_a_day
    due_at = _extend(assignment.due_at, granted.due_at)
    closes_at = _extend(assignment.closes_at, granted.closes_at)
    # An extension beyond the closing would otherwise be one on paper only.
    closes_at = None if closes_at is None else max(closes_at, due_at or closes_at)
    limit = assignment.attempts
    return Terms(
        assignment=assignment,
        zone=policy.zone,
        grace=policy.grace,
        late_percent=policy.late_percent_a_day if percent is None else percent,
        opens_at=assignment.opens_at,
        due_at=due_at,
        closes_at=closes_at,
        attempts=None if limit is None else max(limit, granted.attempts or 0),
        is_excused=granted.excused,
        reason=granted.reason,
    )


def _extend(deadline: datetime | None, granted: datetime | None) -> datetime | None:
    return deadline if granted is None else latest(deadline, granted)


class GradeState(StrEnum):
    """`NOT_YET`: nothing is earned, and something still can be. `NOTHING`: nothing is, and nothing can be."""

    OVERRIDDEN = "overridden"
    EXCUSED = "excused"
    NOT_YET = "not yet"
    EARNED = "earned"
    NOTHING = "nothing"


class Best(NamedTuple):
    """The attempt at an item that counts most: `worth` is what part of the points its time left."""

    handed_in: HandedIn
    days_late: int
    worth: float

    @property
    def value(self) -> float:
        return self.handed_in.earned * self.worth


@dataclass(frozen=True)
class Grade:
    """`points` is None where there is no grade: nothing yet, or excused. `is_final`: nothing more can be earned.

    `best` has the attempt that counts for each item that earned something, and `used` how many attempts at each item
    count towards its limit. `missing`: the course has no such exercise, question or prediction now. `too_late`: some
    item was done right, and only when it was worth nothing any more.
    """

    state: GradeState
    points: float | None
    is_final: bool
    best: Mapping[str, Best]
    items: int
    used: Mapping[str, int]
    reason: str = ""
    missing: bool = False
    too_late: bool = False


def compute_grade(
    terms: Terms,
    work: Iterable[HandedIn],
    now: datetime,
    items: Sequence[str] = ("",),
    override: Override | None = None,
    worth_now: float | None = None,
) -> Grade:
    """The grade of one person for one assignment. `work` is in the order in which it was handed in.

    `items` names what the course holds now: work on anything else counts nothing. `worth_now` is
    terms.worth_from(now), which whoever grades a class computes once.
    """
    attempts = _find_attempts(terms, work, items)
    best = {item: found for item in items if (found := _find_best(terms, attempts.get(item, ())))}
    used = {item: len(found) for item, found in attempts.items()}
    credit = terms.assignment.credit
    earned = _combine([best[item].value if item in best else 0.0 for item in items], credit)
    if override is not None and override.points is not None:
        return Grade(GradeState.OVERRIDDEN, override.points, True, best, len(items), used, override.reason)
    if terms.is_excused:
        return Grade(GradeState.EXCUSED, None, True, best, len(items), used, terms.reason)
    if not items:
        return Grade(GradeState.NOT_YET, None, False, best, 0, used, missing=True)
    worth = terms.worth_from(now) if worth_now is None else worth_now
    possible = _combine([_find_possible(terms, worth, best.get(item), used.get(item, 0)) for item in items], credit)
    points, is_final = terms.assignment.points * earned, possible <= earned
    if earned > 0:
        return Grade(GradeState.EARNED, points, is_final, best, len(items), used)
    state = GradeState.NOTHING if is_final else GradeState.NOT_YET
    too_late = any(
        _count_earned(terms, one) > 0 for item, found in attempts.items() if item not in best for one in found
    )
    points_now = 0.0 if is_final else None
    return Grade(state, points_now, is_final, best, len(items), used, too_late=too_late)


def _find_attempts(terms: Terms, work: Iterable[HandedIn], items: Sequence[str]) -> dict[str, list[HandedIn]]:
    """The attempts that count, by item: those since the opening, up to the limit."""
    attempts: dict[str, list[HandedIn]] = defaultdict(list)
    opens, known = terms.counts_from(), frozenset(items)
    for one in work:
        if one.item not in known or (opens is not None and one.at < opens):
            continue
        if terms.attempts is None or len(attempts[one.item]) < terms.attempts:
            attempts[one.item].append(one)
    return attempts


def _find_best(terms: Terms, attempts: Iterable[HandedIn]) -> Best | None:
    """The attempt that earns most, and of equal ones the first. None if nothing earns anything."""
    found: Best | None = None
    for one in attempts:
        earned = _count_earned(terms, one)
        # Most attempts fail, and a later one is worth no more: its lateness need not be computed.
        if earned > 0 and (found is None or earned > found.value):
            days = terms.days_late(one.at)
            counted = one if earned == one.earned else one._replace(earned=earned)
            candidate = Best(counted, days, terms.worth_of(one.at, days))
            if candidate.value > (found.value if found else 0):
                found = candidate
    return found


def _count_earned(terms: Terms, one: HandedIn) -> float:
    return float(one.earned >= 1) if terms.assignment.credit is Credit.WHOLE else one.earned


def _find_possible(terms: Terms, worth_now: float, best: Best | None, used: int) -> float:
    """The most that an item can come to, from 0 to 1."""
    has_attempt = terms.attempts is None or used < terms.attempts
    return max(best.value if best else 0.0, worth_now if has_attempt else 0.0)


def _combine(values: Sequence[float], credit: Credit) -> float:
    if not values:
        return 0.0
    return min(values) if credit is Credit.WHOLE else sum(values) / len(values)
