"""The audit: a line, kept for years, for each act that gives or takes rights or touches another person's data."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Select, insert, select

from app.access.names import key_of_name
from app.storage.records import AccountId, AuditLine, SectionId
from app.storage.statements import fetch, moment
from app.storage.tables import accounts, assignments, audit, roster, sections
from graders.ledger.database import Database

COMMAND_LINE = "the command line"
ERASED = "an erased account"
LINES_SHOWN = 200


@dataclass(frozen=True)
class Actor:
    """Who does something, and when. `account` is None for the command line."""

    account: AccountId | None
    at: datetime
    address_hash: str = ""


@dataclass(frozen=True)
class AuditFilter:
    """Which lines are wanted: all of them, unless a field says less. `who` and `whom` are parts of names.

    `section` keeps the lines about this section. `until` itself is not kept, and neither is the line `before`.
    """

    section: SectionId | None = None
    who: str = ""
    what: str = ""
    whom: str = ""
    since: datetime | None = None
    until: datetime | None = None
    before: int | None = None


class Audit:
    """Reads the audit. Each method is one read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, wanted: AuditFilter, most: int) -> tuple[AuditLine, ...]:
        """The newest lines that the filter keeps, newest first."""
        return await self._database.read(read_lines, wanted, most)

    async def verbs(self, section: SectionId | None) -> tuple[str, ...]:
        """What has been done, in alphabetical order."""
        query = select(audit.c.verb).where(*_conditions(AuditFilter(section))).distinct().order_by(audit.c.verb)
        return tuple(row.verb for row in await self._database.read(fetch, query))


def write_line(
    connection: Connection,
    actor: Actor,
    verb: str,
    subject: str,
    *,
    section: SectionId | None = None,
    before: str | None = None,
    after: str | None = None,
    reason: str | None = None,
) -> None:
    """Add a line within the transaction that it is about. `subject` is an id, never a name: names can be erased."""
    connection.execute(
        insert(audit).values(
            at=actor.at.timestamp(),
            actor=actor.account,
            section=section,
            verb=verb,
            object=subject,
            before=before,
            after=after,
            reason=reason,
            address_hash=actor.address_hash or None,
        )
    )


def read_lines(connection: Connection, wanted: AuditFilter, most: int = LINES_SHOWN) -> tuple[AuditLine, ...]:
    """The newest lines that the filter keeps, newest first, with the names that the ids have now."""
    query = select(audit).where(*_conditions(wanted)).order_by(audit.c.number.desc()).limit(most)
    rows = fetch(connection, query)
    ids = {text for row in rows for text in (row.actor, row.object, row.before, row.after) if text}
    names = _name(connection, ids)
    return tuple(
        AuditLine(
            number=row.number,
            at=moment(row.at),
            actor=COMMAND_LINE if row.actor is None else names.get(row.actor, ERASED),
            verb=row.verb,
            object=names.get(row.object, row.object),
            before=names.get(row.before, row.before) or "",
            after=names.get(row.after, row.after) or "",
            reason=row.reason or "",
        )
        for row in rows
    )


def _name(connection: Connection, ids: Collection[str]) -> dict[str, str]:
    """What accounts, sections, assignments and people of a roster with these ids are called now."""
    columns = (
        (accounts, accounts.c.name),
        (sections, sections.c.title),
        (assignments, assignments.c.title),
        (roster, roster.c.name),
    )
    return {
        row.id: row.name
        for table, name in columns
        for row in fetch(connection, select(table.c.id, name.label("name")).where(table.c.id.in_(ids)))
    }


def _conditions(wanted: AuditFilter) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if wanted.section is not None:
        found.append(audit.c.section == wanted.section)
    if wanted.who:
        found.append(audit.c.actor.in_(_named(wanted.who)))
    if wanted.what:
        found.append(audit.c.verb == wanted.what)
    if wanted.whom:
        text = audit.c.object.icontains(wanted.whom, autoescape=True)
        found.append(audit.c.object.in_(_named(wanted.whom)) | text)
    if wanted.since is not None:
        found.append(audit.c.at >= wanted.since.timestamp())
    if wanted.until is not None:
        found.append(audit.c.at < wanted.until.timestamp())
    if wanted.before is not None:
        found.append(audit.c.number < wanted.before)
    return found


def _named(text: str) -> Select[tuple[str]]:
    """The accounts whose name contains the text. One that signs in elsewhere alone has no `name_key`."""
    by_key = accounts.c.name_key.contains(key_of_name(text), autoescape=True)
    return select(accounts.c.id).where(by_key | accounts.c.name.icontains(text, autoescape=True))
