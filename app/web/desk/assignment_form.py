"""What an instructor typed about assignments, read and checked; times are of the section's clock. No I/O."""

import itertools
import math
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated

from fastapi import Form

from app.learning.deadlines import add_days, read_wall_time
from app.learning.grading import Counts, Credit, Policy

MAX_POINTS = 1000
MAX_ATTEMPTS = 1000
MAX_DAYS = 366
MAX_DAYS_BETWEEN = 60
MAX_REASON_CHARACTERS = 500
MAX_TITLE_CHARACTERS = 200

TextField = Annotated[str, Form(max_length=MAX_REASON_CHARACTERS)]


class FormMistake(ValueError):
    """Something in a form cannot be used. The message is a sentence for the person who filled it in."""


@dataclass(frozen=True)
class RulesForm:
    """The fields that several assignments can share, as they were sent: empty where nothing was typed."""

    points: TextField = ""
    opens_at: TextField = ""
    due_at: TextField = ""
    closes_at: TextField = ""
    late_percent_a_day: TextField = ""
    attempts: TextField = ""
    published: Annotated[bool, Form()] = False


@dataclass(frozen=True)
class NewAssignmentsForm(RulesForm):
    """The fields for several new assignments. `days_between` lie between the dates of two chapters."""

    exercise_credit: Annotated[Credit, Form()] = Credit.WHOLE
    part_credit: Annotated[Credit, Form()] = Credit.SHARE
    counts: Annotated[Counts, Form()] = Counts.RIGHT
    days_between: TextField = ""


@dataclass(frozen=True)
class Rules:
    """The same, read. The names are those of an Assignment."""

    points: float
    opens_at: datetime | None
    due_at: datetime | None
    closes_at: datetime | None
    late_percent_a_day: int | None
    attempts: int | None
    published: bool


def read_rules(form: RulesForm, policy: Policy) -> Rules:
    """Raises FormMistake."""
    rules = Rules(
        points=read_points(form.points),
        opens_at=read_time(form.opens_at, policy, "the opening"),
        due_at=read_time(form.due_at, policy, "the due date"),
        closes_at=read_time(form.closes_at, policy, "the closing"),
        late_percent_a_day=read_whole(form.late_percent_a_day, "The percentage for each day late", 0, 100),
        attempts=read_whole(form.attempts, "The number of attempts", 1, MAX_ATTEMPTS),
        published=form.published,
    )
    times = [("opening", rules.opens_at), ("due date", rules.due_at), ("closing", rules.closes_at)]
    known = [(name, at) for name, at in times if at is not None]
    for (earlier, first), (later, second) in itertools.pairwise(known):
        if first > second:
            raise FormMistake(f"The {later} is before the {earlier}: change one of them.")
    return rules


def move_rules(rules: Rules, days: int, policy: Policy) -> Rules:
    """The same rules as many days later, at the same times of day."""

    def move(at: datetime | None) -> datetime | None:
        return None if at is None else add_days(at, days, policy.zone)

    dates = (rules.opens_at, rules.due_at, rules.closes_at)
    opens_at, due_at, closes_at = map(move, dates)
    return replace(rules, opens_at=opens_at, due_at=due_at, closes_at=closes_at)


def read_points(text: str) -> float:
    try:
        points = float(text.replace(",", "."))
    except ValueError:
        raise FormMistake(f"Points: “{text}” is no number; write one such as 10 or 2.5.") from None
    if not (math.isfinite(points) and 0 <= points <= MAX_POINTS):
        raise FormMistake(f"Points: {text} is not from 0 to {MAX_POINTS}.")
    return points


def read_whole(text: str, what: str, least: int, most: int) -> int | None:
    """A whole number; None if nothing was typed."""
    if not text.strip():
        return None
    if not (text.strip().isascii() and text.strip().isdigit() and least <= int(text) <= most):
        raise FormMistake(f"{what}: “{text}” is not a whole number from {least} to {most}.")
    return int(text)


def read_time(text: str, policy: Policy, what: str) -> datetime | None:
    """A moment from a field of the section's clock; None if nothing was typed."""
    if not text:
        return None
    try:
        wall = datetime.fromisoformat(text)
    except ValueError:
        wall = None
    if wall is None or wall.tzinfo is not None or not 2000 <= wall.year < 2100:
        raise FormMistake(f"“{text}” as {what} is no time; write it as 2026-12-04T18:00.")
    return read_wall_time(wall.replace(second=0, microsecond=0), policy.zone)


def write_time(at: datetime | None, policy: Policy) -> str:
    """A moment as the value of a field of the section's clock."""
    return "" if at is None else f"{at.astimezone(policy.zone):%Y-%m-%dT%H:%M}"


def read_reason(text: str) -> str:
    reason = " ".join(text.split())
    if not reason:
        raise FormMistake("Write a reason: the learner and the audit show it.")
    return reason
