"""The form of what an instructor sets for a section: what was typed, and what it means."""

from dataclasses import dataclass
from datetime import date
from typing import Annotated

from fastapi import Form
from pydantic import StringConstraints

from app.storage.records import SectionPlan
from app.web.edge.zones import list_zones

MAX_TITLE_CHARACTERS = 120
MAX_GRACE_MINUTES = 1440
YEARS = range(2000, 2100)

Typed = Annotated[str, StringConstraints(max_length=200), Form()]


class BadPlan(Exception):
    """What was typed makes no section. The message is a sentence for the person who typed it."""


@dataclass(frozen=True)
class TypedPlan:
    """The form's fields as they were typed, so that a form with a mistake comes back as it was sent."""

    title: Typed = ""
    zone: Typed = "UTC"
    starts_on: Typed = ""
    ends_on: Typed = ""
    grace_minutes: Typed = "0"
    late_percent_a_day: Typed = "10"
    assistants_extend: Annotated[bool, Form()] = False


def show_plan(plan: SectionPlan) -> TypedPlan:
    return TypedPlan(
        title=plan.title,
        zone=plan.zone,
        starts_on=plan.starts_on.isoformat() if plan.starts_on else "",
        ends_on=plan.ends_on.isoformat() if plan.ends_on else "",
        grace_minutes=str(plan.grace_minutes),
        late_percent_a_day=str(plan.late_percent_a_day),
        assistants_extend=plan.assistants_extend,
    )


def read_plan(typed: TypedPlan) -> SectionPlan:
    """Raises BadPlan at the first mistake."""
    starts_on, ends_on = _read_day(typed.starts_on, "first day"), _read_day(typed.ends_on, "last day")
    if starts_on and ends_on and ends_on < starts_on:
        raise BadPlan(f"The last day, {ends_on}, is before the first, {starts_on}; write a later one.")
    if typed.zone not in list_zones():
        raise BadPlan(f"There is no time zone {typed.zone!r}; choose one of the list, such as Europe/Berlin.")
    return SectionPlan(
        title=_read_title(typed.title),
        zone=typed.zone,
        starts_on=starts_on,
        ends_on=ends_on,
        grace_minutes=_read_number(typed.grace_minutes, "minutes of grace", MAX_GRACE_MINUTES),
        late_percent_a_day=_read_number(typed.late_percent_a_day, "per cent for each day late", 100),
        assistants_extend=typed.assistants_extend,
    )


def _read_title(typed: str) -> str:
    title = " ".join(typed.split())
    if not title or not title.isprintable():
        raise BadPlan("The section has no title that can be read; write one that its people will recognize.")
    if len(title) > MAX_TITLE_CHARACTERS:
        raise BadPlan(f"The title has {len(title)} characters; write one of at most {MAX_TITLE_CHARACTERS}.")
    return title


def _read_day(typed: str, name: str) -> date | None:
    if not typed.strip():
        return None
    try:
        day = date.fromisoformat(typed.strip())
    except ValueError:
        raise BadPlan(f"The {name} is {typed!r}; write a date such as 2027-02-01.") from None
    if day.year not in YEARS:
        raise BadPlan(f"The {name} is in the year {day.year}; write one from {YEARS[0]} to {YEARS[-1]}.")
    return day


def _read_number(typed: str, name: str, most: int) -> int:
    digits = typed.strip()
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 4 and int(digits) <= most):
        raise BadPlan(f"The {name} are {typed!r}; write a whole number from 0 to {most}.")
    return int(digits)
