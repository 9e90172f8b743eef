"""What learners and staff read about a grade: why it is what it is, and what an attempt now would count. Pure."""

from datetime import datetime, timedelta
from typing import assert_never

from app.learning.deadlines import say_moment
from app.learning.grading import Best, Counts, Credit, Grade, GradeState, Kind, Terms

NOUNS = {
    Kind.EXERCISE: ("submission", "submissions"),
    Kind.RETRIEVAL: ("question", "questions"),
    Kind.PREDICTIONS: ("prediction", "predictions"),
}


def say_points(points: float | None) -> str:
    """Points with at most two decimals; a dash where there are none."""
    return "–" if points is None else f"{points:.2f}".rstrip("0").rstrip(".")


def say_grade(grade: Grade, terms: Terms) -> str:
    """One or two sentences that say why a grade is what it is."""
    match grade.state:
        case GradeState.OVERRIDDEN:
            return f"Set by the teaching staff to {say_points(grade.points)}. {_quote(grade.reason)}".strip()
        case GradeState.EXCUSED:
            return f"Excused: it does not count. {_quote(grade.reason)}".strip()
        case GradeState.NOT_YET:
            return _say_not_yet(grade, terms)
        case GradeState.NOTHING:
            return f"{_say_done(grade, terms)} {_say_end(grade, terms)}"
        case GradeState.EARNED:
            return " ".join(filter(None, [_say_done(grade, terms), _say_late(grade, terms)]))
        case _:
            assert_never(grade.state)


def _say_not_yet(grade: Grade, terms: Terms) -> str:
    if grade.missing:
        return "The course has nothing to hand in here now."
    started = bool(grade.used) and any(grade.used.values())
    return _say_done(grade, terms) if started else "Nothing handed in yet."


def _say_done(grade: Grade, terms: Terms) -> str:
    assignment = terms.assignment
    if assignment.kind is Kind.EXERCISE:
        return _say_exercise(grade, terms)
    done, nouns = len(grade.best), NOUNS[assignment.kind]
    noun = nouns[0] if grade.items == 1 else nouns[1]
    answered = "answered right" if assignment.counts is Counts.RIGHT else "answered"
    verb = "made" if assignment.kind is Kind.PREDICTIONS else answered
    whole = assignment.credit is Credit.WHOLE and done < grade.items
    verb += " in time" if grade.too_late else ""
    return f"{done} of {grade.items} {noun} {verb}{'; it counts once all are' if whole else ''}."


def _say_exercise(grade: Grade, terms: Terms) -> str:
    used = sum(grade.used.values())
    if not grade.best:
        passed = "; what passed came too late" if grade.too_late else ", none passed"
        return f"{used} {NOUNS[Kind.EXERCISE][used != 1]}{passed}." if used else "Nothing was handed in."
    best = next(iter(grade.best.values()))
    when = say_moment(best.handed_in.at, terms.zone)
    if best.handed_in.earned >= 1:
        return f"Passed on {when}."
    return f"{best.handed_in.earned:.0%} of the cases passed on {when}."


def _say_late(grade: Grade, terms: Terms) -> str:
    late = [best for best in grade.best.values() if best.days_late]
    if not late:
        return "On time." if terms.due_at is not None else ""
    worst = max(late, key=lambda best: best.days_late)
    what = "" if grade.items == 1 else f"{len(late)} of them "
    return f"{what}{_say_delay(worst, terms)}: {_say_loss(worst, terms)}.".capitalize()


def _say_delay(best: Best, terms: Terms) -> str:
    assert terms.due_at is not None
    return f"{say_span(best.handed_in.at - terms.due_at)} after the deadline"


def _say_loss(best: Best, terms: Terms) -> str:
    days = "1 day late" if best.days_late == 1 else f"{best.days_late} days late"
    return f"{days}, {terms.late_percent} % off for each day" if terms.late_percent else f"{days}, nothing off"


def _say_end(grade: Grade, terms: Terms) -> str:
    if _has_used_up(grade, terms):
        return "No attempt that counts is left."
    if terms.closes_at is not None:
        return f"It closed on {say_moment(terms.closes_at, terms.zone)}."
    return "It is too late to earn anything."


def _has_used_up(grade: Grade, terms: Terms) -> bool:
    """Whether no more can be earned for want of attempts: at each item, or where all of them count, at one."""
    if terms.attempts is None:
        return False
    spent = [item for item, used in grade.used.items() if used >= terms.attempts and item not in grade.best]
    return bool(spent) and (len(spent) == grade.items or terms.assignment.credit is Credit.WHOLE)


def say_span(span: timedelta) -> str:
    """A length of time in its largest unit, rounded down: "2 h", "3 days"."""
    minutes = int(span.total_seconds() // 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 48 * 60 else f"{minutes // (24 * 60)} days"


def say_due(terms: Terms) -> str:
    """When it is due, and when it closes if that is another time."""
    if terms.due_at is None:
        closes = terms.closes_at
        return "no due date" if closes is None else f"closes {say_moment(closes, terms.zone)}"
    return f"due {say_moment(terms.due_at, terms.zone)}"


def say_worth(terms: Terms, used: int, now: datetime) -> str:
    """What an attempt now would count. Empty where nothing needs saying.

    `used`: how many submissions to an exercise counted as attempts already.
    """
    noun = {Kind.EXERCISE: "a submission", Kind.RETRIEVAL: "an answer", Kind.PREDICTIONS: "a prediction"}
    one = noun[terms.assignment.kind]
    if (opens := terms.counts_from()) is not None and now < opens:
        return f"{one} counts from {say_moment(opens, terms.zone)} on"
    if terms.is_closed(now):
        return f"it is closed: {one} now does not count"
    is_exercise = terms.assignment.kind is Kind.EXERCISE
    if is_exercise and terms.attempts is not None and used >= terms.attempts:
        return f"you have used all {terms.attempts} attempts: {one} now is still judged, and does not count"
    worth = terms.worth(now)
    if not worth:
        return f"{one} now counts nothing, because it is too late"
    late = "" if worth == 1 else f"{one} now counts {round(100 * (1 - worth))} % less"
    return "; ".join(filter(None, [late, _say_attempts(terms, used)]))


def _say_attempts(terms: Terms, used: int) -> str:
    """How many attempts still count. A prediction is made only once, so that no limit needs saying."""
    limit = terms.attempts
    match terms.assignment.kind:
        case Kind.EXERCISE if limit is not None:
            return f"{limit - used} of {limit} attempts left"
        case Kind.RETRIEVAL if limit is not None:
            answers = "answer" if limit == 1 else f"{limit} answers"
            return f"only the first {answers} to each question count{'s' if limit == 1 else ''}"
        case _:
            return ""


def _quote(reason: str) -> str:
    return f"Reason: {reason}" if reason else ""
