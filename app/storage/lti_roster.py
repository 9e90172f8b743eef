"""A platform's class list against a section: what it changes, shown first, and taken over as it was shown.

It adds and drops only what came from the same course before. Staff are never dropped, and nobody's work goes.
"""

import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from app.access.permissions import Role
from app.learning.roster import Compared, Entry, KnownLine, State, compare
from app.storage.audit import Actor, write_line
from app.storage.records import AccountId, SectionId
from app.storage.statements import change, fetch
from app.storage.tables import ACTIVE, DROPPED, accounts, lti_contexts, lti_members, memberships, roster
from graders.ledger.database import Database


@dataclass(frozen=True)
class Gone:
    """Somebody of this course's whom its platform no longer lists. `account` is None until they have joined."""

    name: str
    line: str
    account: AccountId | None


@dataclass(frozen=True)
class RosterChanges:
    """What the class list changes in the section. `known` is how many people of this course there were."""

    rows: tuple[Compared, ...]
    gone: tuple[Gone, ...]
    known: int

    @property
    def digest(self) -> str:
        """The same for the same changes, so that what is applied is what was shown."""
        rows = [[row.state.value, row.line, row.entry.name, row.entry.email, row.changes] for row in self.rows]
        gone = [[one.name, one.line, one.account] for one in self.gone]
        return hashlib.sha256(json.dumps([rows, gone], sort_keys=True).encode()).hexdigest()[:32]

    @property
    def drops_many(self) -> bool:
        """Whether more than a third would go: more often a mistake at the platform than the truth."""
        return 3 * len(self.gone) > self.known


class LtiRosters:
    """Compares and takes over class lists. Each method is one transaction, or one read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def compare(self, course: str, section: SectionId, entries: Sequence[Entry]) -> RosterChanges:
        """`entries` are the learners that the platform lists, each with its id under the registration's."""
        return await self._database.read(_compare, course, section, entries)

    async def apply(
        self, course: str, section: SectionId, entries: Sequence[Entry], digest: str, actor: Actor
    ) -> RosterChanges | None:
        """Take the list over. If it now means something else than `digest`, change nothing and return what."""
        return await self._database.write(_apply, course, section, entries, digest, actor)


def _compare(connection: Connection, course: str, section: SectionId, entries: Sequence[Entry]) -> RosterChanges:
    named = [entry for entry in entries if entry.name]
    lines = fetch(connection, select(roster).where(roster.c.section == section))
    out = _find_dropped_by_staff(connection, course, section)
    known = [
        KnownLine(
            row.id,
            _as_entry(row),
            # The list neither brings back nor drops whom the staff dropped: to it, their line is as it should be.
            is_here=row.dropped_at is None or row.account in out,
            from_file=row.source == course and row.account not in out,
        )
        for row in lines
    ]
    found = compare(named, known)
    accounts_of = {row.id: row.account for row in lines}
    gone = {line.id: Gone(line.entry.name, line.id, _as_account(accounts_of[line.id])) for line in found.missing}
    listed = _find_subjects(connection, course, entries)
    members = _read_learners(connection, course, section)
    with_line = {one.account for one in gone.values()}
    without = [
        Gone(row.name, "", AccountId(row.account))
        for row in members
        if row.subject not in listed and row.account not in with_line
    ]
    is_here = {row.id for row in lines if row.source == course and row.dropped_at is None}
    joined = {row.account for row in members} - {accounts_of[line] for line in is_here}
    return RosterChanges(found.rows, (*gone.values(), *without), len(is_here) + len(joined))


def _find_dropped_by_staff(connection: Connection, course: str, section: SectionId) -> set[str]:
    """Who came from the course and is out. Whom a list dropped is no longer noted as having come (see `_drop`)."""
    query = select(memberships.c.account).join(lti_members, lti_members.c.account == memberships.c.account)
    query = query.where(lti_members.c.context == course, memberships.c.section == section)
    return {row.account for row in fetch(connection, query.where(memberships.c.status == DROPPED))}


def _as_account(account: str | None) -> AccountId | None:
    return None if account is None else AccountId(account)


def _find_subjects(connection: Connection, course: str, entries: Sequence[Entry]) -> set[str]:
    registration = connection.execute(
        select(lti_contexts.c.registration).where(lti_contexts.c.id == course)
    ).scalar_one()
    return {entry.platform_ids.get(registration, "") for entry in entries}


def _read_learners(connection: Connection, course: str, section: SectionId) -> Sequence[Any]:
    """The active learners who are members by this course."""
    query = (
        select(lti_members.c.account, lti_members.c.subject, accounts.c.name)
        .join(accounts, accounts.c.id == lti_members.c.account)
        .join(memberships, memberships.c.account == lti_members.c.account)
        .where(lti_members.c.context == course, memberships.c.section == section, memberships.c.source == course)
        .where(memberships.c.status == ACTIVE, memberships.c.role == Role.LEARNER.value)
    )
    return fetch(connection, query.order_by(accounts.c.name, accounts.c.id))


def _as_entry(row: Any) -> Entry:
    ids = json.loads(row.platform_ids)
    return Entry(row.name, row.email or "", row.student_number or "", row.login or "", ids)


def _apply(
    connection: Connection, course: str, section: SectionId, entries: Sequence[Entry], digest: str, actor: Actor
) -> RosterChanges | None:
    found = _compare(connection, course, section, entries)
    if found.digest != digest:
        return found
    at = actor.at.timestamp()
    for row in found.rows:
        _take_row(connection, course, section, row, at)
    for one in found.gone:
        _drop(connection, course, section, one, actor)
    _join_lines(connection, course, section)
    connection.execute(update(lti_contexts).where(lti_contexts.c.id == course).values(synced_at=at))
    states = (State.NEW, State.CHANGED, State.BACK)
    counts = [f"{sum(row.state is state for row in found.rows)} {state}" for state in states]
    after = ", ".join([*counts, f"{len(found.gone)} dropped"])
    write_line(connection, actor, "apply a platform's list", section, section=section, after=after)
    return None


def _take_row(connection: Connection, course: str, section: SectionId, row: Compared, at: float) -> None:
    entry = row.entry
    values = {
        "name": entry.name[:120],
        "email": entry.email or None,
        "student_number": entry.student_number or None,
        "platform_ids": json.dumps(dict(entry.platform_ids)),
    }
    if row.state is State.NEW:
        key = {"id": secrets.token_hex(16), "section": section, "source": course, "added_at": at}
        connection.execute(insert(roster).values(**key, **values))
    elif row.state in (State.CHANGED, State.BACK):
        here = {"dropped_at": None} if row.state is State.BACK else {}
        change(connection, update(roster).where(roster.c.id == row.line).values(**values, **here))


def _join_lines(connection: Connection, course: str, section: SectionId) -> None:
    """Whoever has come from the course already is the person of the line with the platform's id of them."""
    registration = connection.execute(
        select(lti_contexts.c.registration).where(lti_contexts.c.id == course)
    ).scalar_one()
    lines = fetch(connection, select(roster).where(roster.c.section == section))
    taken = {line.account for line in lines}
    members = {row.subject: row.account for row in _read_learners(connection, course, section)}
    for line in lines:
        account = members.get(json.loads(line.platform_ids).get(registration, ""))
        if line.account is None and account is not None and account not in taken:
            values = {"account": account, "token_hash": None}
            change(connection, update(roster).where(roster.c.id == line.id).values(values))


def _drop(connection: Connection, course: str, section: SectionId, gone: Gone, actor: Actor) -> None:
    at = actor.at.timestamp()
    if gone.line:
        change(connection, update(roster).where(roster.c.id == gone.line).values(dropped_at=at))
    if gone.account is None:
        return
    mine = (memberships.c.section == section) & (memberships.c.account == gone.account)
    mine &= (memberships.c.source == course) & (memberships.c.status == ACTIVE)
    mine &= memberships.c.role == Role.LEARNER.value
    if change(connection, update(memberships).where(mine).values(status=DROPPED, dropped_at=at)):
        write_line(connection, actor, "drop by a platform's list", gone.account, section=section)
    # Whom the platform lists again comes back by a launch; whom the staff dropped does not (see lti_people).
    member = (lti_members.c.context == course) & (lti_members.c.account == gone.account)
    connection.execute(delete(lti_members).where(member))
