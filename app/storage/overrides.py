"""Grades that a person decided in place of the computed ones. Decisions are added, and none is ever changed."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, insert, select

from app.learning.grade_sentences import say_points
from app.storage.audit import Actor, write_line
from app.storage.handed_in import learners_of
from app.storage.records import AccountId, SectionId
from app.storage.statements import fetch, moment
from app.storage.tables import accounts, assignments, overrides
from graders.ledger.database import Database


@dataclass(frozen=True)
class Decision:
    """None points withdrew the decision before. `made_by` is a name, empty where that account is gone."""

    points: float | None
    reason: str
    made_by: str
    made_at: datetime


class Overrides:
    """Reads and writes decisions. A foreign section's assignment or learner finds nothing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def decide(
        self, section: SectionId, assignment: str, account: AccountId, points: float | None, reason: str, actor: Actor
    ) -> bool:
        """Set a grade, or with None withdraw what was set. False if there is no such cell, or nothing to withdraw."""
        return await self._database.write(_decide, section, assignment, account, points, reason, actor)

    async def history(self, section: SectionId, assignment: str, account: AccountId) -> tuple[Decision, ...]:
        """Newest first."""
        return await self._database.read(_read_history, section, assignment, account)


def _decide(
    connection: Connection,
    section: SectionId,
    assignment: str,
    account: AccountId,
    points: float | None,
    reason: str,
    actor: Actor,
) -> bool:
    here = (assignments.c.id == assignment) & (assignments.c.section == section)
    found = fetch(connection, select(assignments.c.title).where(here))
    if not found or not fetch(connection, learners_of(section, [account])):
        return False
    before = _read_history(connection, section, assignment, account)
    standing = before[0].points if before else None
    if points is None and standing is None:
        return False
    if before and (before[0].points, before[0].reason) == (points, reason):
        return True  # The same form, sent twice.
    connection.execute(
        insert(overrides).values(
            assignment=assignment,
            account=account,
            points=points,
            reason=reason,
            made_by=actor.account,
            made_at=actor.at.timestamp(),
        )
    )
    write_line(
        connection,
        actor,
        "override a grade" if points is not None else "withdraw an override",
        account,
        section=section,
        before=f"{found[0].title}: {say_points(standing)}",
        after=f"{found[0].title}: {say_points(points)}",
        reason=reason,
    )
    return True


def _read_history(
    connection: Connection, section: SectionId, assignment: str, account: AccountId
) -> tuple[Decision, ...]:
    query = (
        select(overrides, accounts.c.name)
        .join(assignments, assignments.c.id == overrides.c.assignment)
        .outerjoin(accounts, accounts.c.id == overrides.c.made_by)
        .where(assignments.c.section == section, overrides.c.assignment == assignment, overrides.c.account == account)
        .order_by(overrides.c.number.desc())
    )
    return tuple(
        Decision(row.points, row.reason, row.name or "", moment(row.made_at)) for row in fetch(connection, query)
    )
