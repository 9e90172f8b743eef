"""Whom a section's gradebook lists, by the school's names, and the ids that other platforms have for them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, func, select, update

from app.access.permissions import Role
from app.storage.audit import Actor, write_line
from app.storage.records import AccountId, SectionId
from app.storage.statements import change, fetch, insert_into
from app.storage.tables import ACTIVE, accounts, assignments, memberships, platform_columns, roster
from graders.ledger.database import Database


@dataclass(frozen=True)
class GradebookPerson:
    """A learner of a section, by the roster's name; without a line there, by the account's, and the rest is empty."""

    account: AccountId
    name: str
    roster_id: str = ""
    email: str = ""
    student_number: str = ""
    login: str = ""
    platform_ids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PlatformIds:
    """What a platform's file says: its ids of people, by roster id, and of columns, by assignment."""

    platform: str
    people: Mapping[str, str]
    columns: Mapping[str, str]


class GradebookPeople:
    """Reads the learners of a section, and keeps platforms' ids."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def learners(self, section: SectionId) -> tuple[GradebookPerson, ...]:
        """The active learners, by name."""
        return await self._database.read(_read_learners, section)

    async def count_waiting(self, section: SectionId) -> int:
        """How many people on the roster have not joined yet."""
        waiting = (roster.c.section == section) & roster.c.account.is_(None) & roster.c.dropped_at.is_(None)
        return int((await self._database.read(fetch, select(func.count()).where(waiting)))[0][0])

    async def columns(self, section: SectionId) -> Mapping[str, Mapping[str, str]]:
        """Assignment -> platform -> the platform's id."""
        return await self._database.read(_read_columns, section)

    async def keep_ids(self, section: SectionId, ids: PlatformIds, actor: Actor) -> None:
        """Keep a platform's ids of the section's people and assignments; others are passed over."""
        await self._database.write(_keep_ids, section, ids, actor)

    async def note_download(self, section: SectionId, platform: str, people: int, actor: Actor) -> None:
        """Write to the audit that the grades of so many people left the site as a file."""
        await self._database.write(_note_download, section, platform, people, actor)


def _note_download(connection: Connection, section: SectionId, platform: str, people: int, actor: Actor) -> None:
    what = f"{people} people, for {platform}"
    write_line(connection, actor, "download the gradebook", section, section=section, after=what)


def _read_learners(connection: Connection, section: SectionId) -> tuple[GradebookPerson, ...]:
    named = (roster.c.account == memberships.c.account) & (roster.c.section == section)
    query = (
        select(*PERSON)
        .select_from(memberships)
        .join(accounts, accounts.c.id == memberships.c.account)
        .outerjoin(roster, named)
        .where(memberships.c.section == section, memberships.c.role == Role.LEARNER.value)
        .where(memberships.c.status == ACTIVE)
    )
    people = [_as_person(row) for row in connection.execute(query)]
    return tuple(sorted(people, key=lambda person: (person.name.casefold(), person.account)))


PERSON: tuple[ColumnElement[Any], ...] = (
    memberships.c.account,
    accounts.c.name.label("own_name"),
    roster.c.id,
    roster.c.name,
    roster.c.email,
    roster.c.student_number,
    roster.c.login,
    roster.c.platform_ids,
)


def _as_person(row: Row[*tuple[Any, ...]]) -> GradebookPerson:
    if row.id is None:
        return GradebookPerson(AccountId(row.account), row.own_name)
    return GradebookPerson(
        account=AccountId(row.account),
        name=row.name,
        roster_id=row.id,
        email=row.email or "",
        student_number=row.student_number or "",
        login=row.login or "",
        platform_ids=json.loads(row.platform_ids),
    )


def _read_columns(connection: Connection, section: SectionId) -> dict[str, dict[str, str]]:
    query = select(platform_columns).join(assignments, assignments.c.id == platform_columns.c.assignment)
    found: dict[str, dict[str, str]] = {}
    for row in fetch(connection, query.where(assignments.c.section == section)):
        found.setdefault(row.assignment, {})[row.platform] = row.column_id
    return found


def _keep_ids(connection: Connection, section: SectionId, ids: PlatformIds, actor: Actor) -> None:
    for person, known in ids.people.items():
        this = (roster.c.id == person) & (roster.c.section == section)
        for row in fetch(connection, select(roster.c.platform_ids).where(this)):
            text = json.dumps({**json.loads(row.platform_ids), ids.platform: known})
            change(connection, update(roster).where(this).values(platform_ids=text))
    here = {row.id for row in fetch(connection, select(assignments.c.id).where(assignments.c.section == section))}
    for assignment, column in ids.columns.items():
        if assignment in here:
            new = {"assignment": assignment, "platform": ids.platform, "column_id": column}
            statement = insert_into(connection, platform_columns).values(new)
            keys = ["assignment", "platform"]
            connection.execute(statement.on_conflict_do_update(index_elements=keys, set_={"column_id": column}))
    what = f"{len(ids.people)} people, {len(ids.columns)} assignments"
    write_line(connection, actor, f"keep {ids.platform} ids", section, section=section, after=what)
