"""The audit: a line, kept for years, for each act that gives or takes rights or touches another person's data."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, insert, select

from app.storage.records import AccountId, AuditLine, SectionId
from app.storage.statements import fetch, moment
from app.storage.tables import accounts, audit

COMMAND_LINE = "the command line"
ERASED = "an erased account"
LINES_SHOWN = 200


@dataclass(frozen=True)
class Actor:
    """Who does something, and when. `account` is None for the command line."""

    account: AccountId | None
    at: datetime
    address_hash: str = ""


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


def read_lines(connection: Connection) -> tuple[AuditLine, ...]:
    """The newest lines, newest first, with the names that the ids have now."""
    names = {row.id: row.name for row in fetch(connection, select(accounts.c.id, accounts.c.name))}
    rows = fetch(connection, select(audit).order_by(audit.c.number.desc()).limit(LINES_SHOWN))
    return tuple(
        AuditLine(
            at=moment(row.at),
            actor=COMMAND_LINE if row.actor is None else names.get(row.actor, ERASED),
            verb=row.verb,
            object=names.get(row.object, row.object),
            before=row.before or "",
            after=row.after or "",
            reason=row.reason or "",
        )
        for row in rows
    )
