"""What a grade is made of: the terms that hold for its person, and what each thing handed in counts. No I/O."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from app.learning.deadlines import say_moment
from app.learning.grade_sentences import say_points
from app.learning.grading import Credit, HandedIn, Kind, Terms
from app.storage.records import SectionId
from app.web.views.grade_table import say_own_time
from app.web.views.grades import Graded


@dataclass(frozen=True)
class TermRow:
    """`granted` says what an allowance changed; empty where nothing."""

    name: str
    value: str
    granted: str = ""


@dataclass(frozen=True)
class AttemptRow:
    """`counts` says what it came to; `is_best`: the grade is made of it. `href` is empty for what has no page."""

    at: str
    href: str
    item: str
    earned: str
    late: str
    counts: str
    is_best: bool


def show_terms(terms: Terms, own_zone: ZoneInfo | None) -> tuple[TermRow, ...]:
    """`own_zone` is the reader's: a deadline is shown on their clock too, if that differs."""
    assignment = terms.assignment
    rows = [
        _show_deadline("Opens", terms, terms.opens_at, assignment.opens_at, own_zone),
        _show_deadline("Due", terms, terms.due_at, assignment.due_at, own_zone),
        _show_deadline("Closes", terms, terms.closes_at, assignment.closes_at, own_zone),
        TermRow("For each day late", f"{terms.late_percent} % off") if terms.due_at else None,
        _show_limit(terms),
        TermRow("Excused", "yes") if terms.is_excused else None,
        TermRow("Reason of the allowance", terms.reason) if terms.reason else None,
    ]
    return tuple(row for row in rows if row is not None)


def _show_deadline(
    name: str, terms: Terms, held: datetime | None, usual: datetime | None, own_zone: ZoneInfo | None
) -> TermRow | None:
    if held is None:
        return None
    here = say_own_time(held, terms.zone, own_zone)
    shown = say_moment(held, terms.zone) + (f", for you {here}" if here else "")
    return TermRow(name, shown, "extended for this learner" if held != usual else "")


def _show_limit(terms: Terms) -> TermRow | None:
    """None for predictions too, because each can be made only once."""
    if terms.attempts is None or terms.assignment.kind is Kind.PREDICTIONS:
        return None
    granted = "more for this learner" if terms.attempts != terms.assignment.attempts else ""
    return TermRow("Attempts that count", str(terms.attempts), granted)


def show_attempts(
    section: SectionId, graded: Graded, handed_in: Sequence[HandedIn], regraded: Collection[str] = ()
) -> tuple[AttemptRow, ...]:
    """In the order in which they were handed in, those that do not count too. `regraded` names those judged again."""
    used: Counter[str] = Counter()
    rows = []
    for one in handed_in:
        why_not = _find_why_not(graded.terms, one, used[one.item])
        used[one.item] += not why_not
        row = _show_attempt(section, graded, one, why_not)
        rows.append(replace(row, earned=f"{row.earned}, judged again") if one.id in regraded else row)
    return tuple(rows)


def _find_why_not(terms: Terms, one: HandedIn, used: int) -> str:
    opens = terms.counts_from()
    if opens is not None and one.at < opens:
        return "before it opened"
    if terms.attempts is not None and used >= terms.attempts:
        return "beyond the attempts that count"
    return "after it closed" if terms.is_closed(one.at) else ""


def _show_attempt(section: SectionId, graded: Graded, one: HandedIn, why_not: str) -> AttemptRow:
    terms, best = graded.terms, graded.grade.best.get(one.item)
    days = terms.days_late(one.at)
    whole = terms.assignment.credit is Credit.WHOLE and terms.assignment.kind is Kind.EXERCISE
    earned = float(one.earned >= 1) if whole else one.earned
    return AttemptRow(
        at=say_moment(one.at, terms.zone),
        href=f"/desk/{section}/submissions/{one.id}" if terms.assignment.kind is Kind.EXERCISE else "",
        item=one.item,
        earned=_say_earned(terms.assignment.kind, one.earned),
        late="" if not days else "1 day late" if days == 1 else f"{days} days late",
        counts=f"nothing: {why_not}" if why_not else f"{say_points(100 * earned * terms.worth(one.at))} %",
        is_best=best is not None and best.handed_in._replace(earned=one.earned) == one,
    )


def _say_earned(kind: Kind, earned: float) -> str:
    if kind is Kind.PREDICTIONS:
        return "made"
    if kind is Kind.RETRIEVAL:
        return "counts" if earned >= 1 else "does not count"
    return "passed" if earned >= 1 else f"{earned * 100:.0f} % of the cases"
