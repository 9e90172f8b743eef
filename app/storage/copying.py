"""A new section from another one's plan: its rules, and its assignments with their dates moved to the new term."""

import secrets
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, insert, select

from app.learning.deadlines import move
from app.storage.audit import Actor, write_line
from app.storage.records import SectionId, SectionPlan
from app.storage.statements import fetch, moment
from app.storage.tables import assignments

TIMES = ("opens_at", "due_at", "closes_at")


def count_days_between(old: SectionPlan, new: SectionPlan) -> int:
    """By how many days the dates move: from first day to first day; 0 where one of the two has none."""
    return (new.starts_on - old.starts_on).days if old.starts_on and new.starts_on else 0


def copy_assignments(
    connection: Connection, old: tuple[SectionId, SectionPlan], new: tuple[SectionId, SectionPlan], actor: Actor
) -> None:
    """Each date shows on the new clocks what it showed on the old ones, as many days later as the term begins."""
    (source, old_plan), (target, new_plan) = old, new
    days, zones = count_days_between(old_plan, new_plan), (ZoneInfo(old_plan.zone), ZoneInfo(new_plan.zone))
    rows = []
    for row in fetch(connection, select(assignments).where(assignments.c.section == source)):
        times = {name: getattr(row, name) for name in TIMES}
        moved = {name: at and move(moment(at), days, *zones).timestamp() for name, at in times.items()}
        identity = {"id": secrets.token_hex(16), "section": target, "made_at": actor.at.timestamp()}
        rows.append({**row._mapping, **moved, **identity})
    if rows:
        connection.execute(insert(assignments), rows)
    what = f"{len(rows)} assignments, {days} days later"
    write_line(connection, actor, "copy a section's plan", target, section=target, before=source, after=what)
