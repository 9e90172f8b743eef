"""A section's roster: whom the school names there, and whose account each line is. A line gives nobody any right."""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NewType

from sqlalchemy import Connection, Row, insert, select, update

from app.access.permissions import Role
from app.access.tokens import hash_token, make_token
from app.learning.roster import Comparison, Entry, KnownLine, State, compare
from app.storage.audit import Actor, write_line
from app.storage.memberships import (
    Joined,
    Joining,
    Source,
    drop,
    find_membership,
    join_as_learner,
    take_back,
)
from app.storage.records import AccountId, SectionId, Status
from app.storage.statements import change, fetch, optional_moment
from app.storage.tables import ACTIVE, accounts, memberships, roster, sections
from graders.ledger.database import Database

LineId = NewType("LineId", str)


@dataclass(frozen=True)
class RosterLine:
    """`account_name` is empty until somebody's account is this person's; `has_link` while a link can make it so."""

    id: LineId
    entry: Entry
    account: AccountId | None
    account_name: str
    source: str
    dropped_at: datetime | None
    has_link: bool


@dataclass(frozen=True)
class PersonalLink:
    """The token of a link by which this person joins. It is shown once."""

    entry: Entry
    token: str


@dataclass(frozen=True)
class Invitation:
    """What a personal link opens: as whom one joins which section."""

    title: str
    name: str


class Rosters:
    """Reads and writes rosters. Each method is one transaction, or one read, of one section."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def lines(self, section: SectionId) -> tuple[RosterLine, ...]:
        """By name; who was dropped last."""
        return await self._database.read(_read_lines, section)

    async def compare(self, section: SectionId, entries: Sequence[Entry], reader: AccountId) -> Comparison:
        """What a file means for the section, with the reader's other sections in view."""
        return await self._database.read(_compare, section, entries, reader)

    async def apply(
        self, section: SectionId, entries: Sequence[Entry], actor: Actor, *, drop_missing: bool
    ) -> Comparison:
        """Take a file over, all of it or nothing. Returns what it meant in this moment."""
        return await self._database.write(_apply, section, entries, actor, drop_missing)

    async def make_links(self, section: SectionId, actor: Actor) -> tuple[PersonalLink, ...]:
        """A new link for everybody in the roster who has not joined; earlier ones end."""
        return await self._database.write(_make_links, section, actor)

    async def find_link(self, token: str) -> Invitation | None:
        """None for a link that was used, has ended, or never was, and in an archived section."""
        row = await self._database.read(_find_link, token)
        return Invitation(row.title, row.name) if row else None

    async def join_by_link(self, token: str, actor: Actor) -> Joined | None:
        """Make the actor the person of this link, and a learner of the section. None as in `find_link`."""
        return await self._database.write(_join_by_link, token, actor)

    async def set_account(self, section: SectionId, line: LineId, account: AccountId | None, actor: Actor) -> bool:
        """Say whose account a line is, or that it is nobody's.

        False if there is no such line, or the account is no learner here, or another line's.
        """
        return await self._database.write(_set_account, section, line, account, actor)


def _as_entry(row: Row[Any]) -> Entry:
    return Entry(
        name=row.name,
        email=row.email or "",
        student_number=row.student_number or "",
        login=row.login or "",
        platform_ids=json.loads(row.platform_ids),
    )


def _as_row(entry: Entry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "email": entry.email or None,
        "student_number": entry.student_number or None,
        "login": entry.login or None,
        "platform_ids": json.dumps(dict(entry.platform_ids)),
    }


def _read_lines(connection: Connection, section: SectionId) -> tuple[RosterLine, ...]:
    columns = (roster, accounts.c.name.label("account_name"))
    query = select(*columns).join_from(roster, accounts, accounts.c.id == roster.c.account, isouter=True)
    rows = fetch(connection, query.where(roster.c.section == section))
    lines = [
        RosterLine(
            id=LineId(row.id),
            entry=_as_entry(row),
            account=None if row.account is None else AccountId(row.account),
            account_name=row.account_name or "",
            source=row.source,
            dropped_at=optional_moment(row.dropped_at),
            has_link=row.token_hash is not None,
        )
        for row in rows
    ]
    return tuple(sorted(lines, key=lambda line: (line.dropped_at is not None, line.entry.name.casefold(), line.id)))


def _compare(
    connection: Connection, section: SectionId, entries: Sequence[Entry], reader: AccountId | None
) -> Comparison:
    known = [
        KnownLine(row.id, _as_entry(row), row.dropped_at is None, row.source == Source.CSV)
        for row in fetch(connection, select(roster).where(roster.c.section == section))
    ]
    return compare(entries, known, _read_elsewhere(connection, section, reader))


def _read_elsewhere(connection: Connection, section: SectionId, reader: AccountId | None) -> list[tuple[Entry, str]]:
    """The people in the other sections of this instructor alone: who is in those of others is not theirs to know."""
    mine = (memberships.c.account == reader) & (memberships.c.role == Role.INSTRUCTOR.value)
    mine &= (memberships.c.status == ACTIVE) & (memberships.c.section == sections.c.id)
    query = select(roster, sections.c.title).join(sections, sections.c.id == roster.c.section)
    query = query.join(memberships, mine).where(roster.c.section != section, roster.c.dropped_at.is_(None))
    return [(_as_entry(row), row.title) for row in fetch(connection, query.where(sections.c.archived_at.is_(None)))]


def _apply(
    connection: Connection, section: SectionId, entries: Sequence[Entry], actor: Actor, drop_missing: bool
) -> Comparison:
    found = _compare(connection, section, entries, None)
    new = [row.entry for row in found.rows if row.state is State.NEW]
    if new:
        at = actor.at.timestamp()
        more = [{"id": secrets.token_hex(16), "section": section, "source": Source.CSV, "added_at": at} for _ in new]
        connection.execute(insert(roster), [{**_as_row(one), **rest} for one, rest in zip(new, more, strict=True)])
    for row in found.rows:
        if row.state in (State.CHANGED, State.BACK):
            changed = update(roster).where(roster.c.id == row.line).values(**_as_row(row.entry), dropped_at=None)
            change(connection, changed)
        if row.state is State.BACK and (learner := _find_learner(connection, section, row.line)):
            take_back(connection, section, learner, actor)
    if drop_missing:
        _drop_missing(connection, section, found, actor)
    counts = [f"{found.count(state)} {state}" for state in (State.NEW, State.CHANGED, State.BACK)]
    dropped = f"{len(found.missing) if drop_missing else 0} dropped"
    write_line(connection, actor, "apply a roster", section, section=section, after=", ".join([*counts, dropped]))
    return found


def _drop_missing(connection: Connection, section: SectionId, found: Comparison, actor: Actor) -> None:
    for line in found.missing:
        change(connection, update(roster).where(roster.c.id == line.id).values(dropped_at=actor.at.timestamp()))
        if learner := _find_learner(connection, section, line.id):
            drop(connection, section, learner, actor)


def _find_learner(connection: Connection, section: SectionId, line: str) -> AccountId | None:
    """Whose line it is, if they are or were a learner: a file of learners says nothing about staff."""
    account = connection.execute(select(roster.c.account).where(roster.c.id == line)).scalar_one()
    member = find_membership(connection, section, AccountId(account)) if account else None
    return member.account if member is not None and member.role is Role.LEARNER else None


def _make_links(connection: Connection, section: SectionId, actor: Actor) -> tuple[PersonalLink, ...]:
    waiting = (roster.c.section == section) & roster.c.account.is_(None) & roster.c.dropped_at.is_(None)
    links = []
    for row in fetch(connection, select(roster).where(waiting).order_by(roster.c.name, roster.c.id)):
        token = make_token()
        change(connection, update(roster).where(roster.c.id == row.id).values(token_hash=hash_token(token)))
        links.append(PersonalLink(_as_entry(row), token))
    write_line(connection, actor, "make links for a roster", section, section=section, after=f"{len(links)} links")
    return tuple(links)


def _find_link(connection: Connection, token: str) -> Any:
    """A row with the line's id, its section, the person's name and the section's title; or None."""
    this = (roster.c.token_hash == hash_token(token)) & roster.c.account.is_(None) & roster.c.dropped_at.is_(None)
    query = select(roster.c.id, roster.c.section, roster.c.name, sections.c.title).join(sections)
    return connection.execute(query.where(this, sections.c.archived_at.is_(None))).one_or_none()


def _join_by_link(connection: Connection, token: str, actor: Actor) -> Joined | None:
    assert actor.account is not None
    row = _find_link(connection, token)
    if row is None:
        return None
    section = SectionId(row.section)
    outcome = _join_as_line(connection, section, actor)
    if outcome in (Joining.JOINED, Joining.IS_MEMBER):
        _link(connection, LineId(row.id), actor.account)
        write_line(connection, actor, "join by a personal link", actor.account, section=section, after=row.id)
    return Joined(section, row.title, outcome)


def _join_as_line(connection: Connection, section: SectionId, actor: Actor) -> Joining:
    assert actor.account is not None
    member = find_membership(connection, section, actor.account)
    if member is not None and member.is_staff:
        return Joining.IS_STAFF
    if _has_line(connection, section, actor.account):
        return Joining.HAS_LINE
    return join_as_learner(connection, section, actor, Source.CSV)


def _has_line(connection: Connection, section: SectionId, account: AccountId) -> bool:
    theirs = (roster.c.section == section) & (roster.c.account == account)
    return bool(fetch(connection, select(roster.c.id).where(theirs)))


def _link(connection: Connection, line: LineId, account: AccountId) -> None:
    values = {"account": account, "token_hash": None}
    change(connection, update(roster).where(roster.c.id == line).values(values))


def _set_account(
    connection: Connection, section: SectionId, line: LineId, account: AccountId | None, actor: Actor
) -> bool:
    this = (roster.c.section == section) & (roster.c.id == line)
    row = connection.execute(select(roster.c.account).where(this)).one_or_none()
    if row is None:
        return False
    if account is None:
        change(connection, update(roster).where(this).values(account=None))
    elif _is_free_learner(connection, section, account):
        _link(connection, line, account)
    else:
        return False
    subject = account or row.account or section
    before, after = (line, None) if account is None else (None, line)
    write_line(connection, actor, "say whose line it is", subject, section=section, before=before, after=after)
    return True


def _is_free_learner(connection: Connection, section: SectionId, account: AccountId) -> bool:
    member = find_membership(connection, section, account)
    is_learner = member is not None and member.role is Role.LEARNER and member.status is not Status.INVITED
    return is_learner and not _has_line(connection, section, account)
