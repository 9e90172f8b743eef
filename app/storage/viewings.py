"""Seeing the course as a learner of one's section: for half an hour, with the session, and each time in the audit."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, func, insert, select

from app.access.permissions import Role
from app.storage.audit import Actor, write_line
from app.storage.memberships import list_resettable
from app.storage.records import AccountId, SectionId, Session
from app.storage.statements import change, fetch, moment, optional_moment
from app.storage.tables import ACTIVE, accounts, memberships, roster, sections, viewings
from graders.contract.model import LearnerId
from graders.ledger.database import Database

VIEWING_LASTS = timedelta(minutes=30)
ANY_LEARNER = "any learner"


@dataclass(frozen=True)
class Viewing:
    """What a session sees now. Without an `account`: a learner of the section who has done nothing, `at` a time.

    `name` is the roster's where there is one.
    """

    section: SectionId
    section_title: str
    zone: str
    account: AccountId | None
    learner: LearnerId | None
    name: str
    at: datetime | None
    ends_at: datetime


@dataclass(frozen=True)
class NewViewing:
    """As this account, for a reason; or, without one, as any learner of the section `at` a time."""

    section: SectionId
    account: AccountId | None = None
    at: datetime | None = None
    reason: str = ""


class Viewings:
    """Reads and writes viewings. Each method is one transaction, or one read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, session: Session, now: datetime) -> Viewing | None:
        """What the session sees the course as. None if it has no viewing, or no right to it any more.

        The right is that its account is an active instructor of the section, and that whom it sees is an active
        learner there, staff of no section and no operator.
        """
        return await self._database.read(_find, session, now)

    async def begin(self, session: Session, wanted: NewViewing, actor: Actor) -> bool:
        """False if this person may not be seen so."""
        return await self._database.write(_begin, session, wanted, actor)

    async def end(self, session: Session, actor: Actor) -> None:
        await self._database.write(_end, session, actor)


def _find(connection: Connection, session: Session, now: datetime) -> Viewing | None:
    assert session.account is not None
    is_instructor = (
        (memberships.c.section == viewings.c.section)
        & (memberships.c.account == session.account.id)
        & (memberships.c.role == Role.INSTRUCTOR.value)
        & (memberships.c.status == ACTIVE)
    )
    named = (roster.c.section == viewings.c.section) & (roster.c.account == viewings.c.account)
    name = func.coalesce(roster.c.name, accounts.c.name).label("name")
    query = (
        select(viewings, sections.c.title, sections.c.zone, accounts.c.learner, name)
        .join_from(viewings, sections, sections.c.id == viewings.c.section)
        .join(memberships, is_instructor)
        .outerjoin(accounts, accounts.c.id == viewings.c.account)
        .outerjoin(roster, named)
        .where(_is_of(session), viewings.c.expires_at > now.timestamp())
    )
    found = next((_as_viewing(row) for row in fetch(connection, query)), None)
    if found is None or found.account is None:
        return found
    return found if found.account in list_resettable(connection, found.section) else None


def _as_viewing(row: Row[Any]) -> Viewing:
    return Viewing(
        section=SectionId(row.section),
        section_title=row.title,
        zone=row.zone,
        account=None if row.account is None else AccountId(row.account),
        learner=None if row.learner is None else LearnerId(row.learner),
        name=row.name or "a learner",
        at=optional_moment(row.at),
        ends_at=moment(row.expires_at),
    )


def _is_of(session: Session) -> ColumnElement[bool]:
    return viewings.c.token_hash == session.token_hash


def _begin(connection: Connection, session: Session, wanted: NewViewing, actor: Actor) -> bool:
    section, account = wanted.section, wanted.account
    if account is not None and account not in list_resettable(connection, section):
        return False
    change(connection, delete(viewings).where(_is_of(session)))
    row = {"token_hash": session.token_hash, "section": section, "account": account}
    times = {
        "at": wanted.at.timestamp() if wanted.at else None,
        "expires_at": (actor.at + VIEWING_LASTS).timestamp(),
    }
    connection.execute(insert(viewings).values(**row, **times))
    shown = wanted.at.isoformat() if wanted.at else None
    subject = account or ANY_LEARNER
    write_line(connection, actor, "view as", subject, section=section, after=shown, reason=wanted.reason or None)
    return True


def _end(connection: Connection, session: Session, actor: Actor) -> None:
    rows = fetch(connection, select(viewings.c.section, viewings.c.account).where(_is_of(session)))
    for row in rows:
        change(connection, delete(viewings).where(_is_of(session)))
        write_line(connection, actor, "end a view", row.account or ANY_LEARNER, section=SectionId(row.section))
