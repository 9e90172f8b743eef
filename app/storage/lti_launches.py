"""Launches on their way: logins that a platform is to confirm, and tickets that carry a checked launch further."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, insert, select

from app.storage.statements import fetch
from app.storage.tables import lti_logins, lti_tickets
from graders.ledger.database import Database


@dataclass(frozen=True)
class Login:
    """A launch that was begun. `asked` is what it was begun with, as JSON."""

    state_hash: str
    registration: str
    browser_hash: str
    nonce: str
    asked: str


@dataclass(frozen=True)
class Ticket:
    """A checked launch as JSON, for one `purpose`. Only the hash of its token is kept."""

    token_hash: str
    registration: str
    purpose: str
    launch: str


class LtiLaunches:
    """Reads and writes logins and tickets. Each method is one transaction, or one read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep_login(self, login: Login, expires_at: datetime) -> None:
        row = {**login.__dict__, "expires_at": expires_at.timestamp()}
        await self._database.write(lambda connection: connection.execute(insert(lti_logins).values(row)))

    async def take_login(self, state_hash: str, now: datetime) -> Login | None:
        """The login, which then is gone. None if it is unknown, used or expired."""
        return await self._database.write(_take_login, state_hash, now)

    async def keep_ticket(self, ticket: Ticket, expires_at: datetime) -> None:
        row = {**ticket.__dict__, "expires_at": expires_at.timestamp()}
        await self._database.write(lambda connection: connection.execute(insert(lti_tickets).values(row)))

    async def find_ticket(self, token_hash: str, purpose: str, now: datetime) -> Ticket | None:
        """The ticket, which stays. None if it is unknown, used or expired."""
        query = select(lti_tickets).where(_alive(token_hash, purpose, now))
        return next((_as_ticket(row) for row in await self._database.read(fetch, query)), None)

    async def take_ticket(self, token_hash: str, purpose: str, now: datetime) -> Ticket | None:
        """The ticket, which then is gone. None if it is unknown, used or expired."""
        return await self._database.write(_take_ticket, token_hash, purpose, now)


def end_launches(connection: Connection, at: float) -> None:
    """Delete what has expired."""
    for table in (lti_logins, lti_tickets):
        connection.execute(delete(table).where(table.c.expires_at <= at))


def _take_login(connection: Connection, state_hash: str, now: datetime) -> Login | None:
    mine = (lti_logins.c.state_hash == state_hash) & (lti_logins.c.expires_at > now.timestamp())
    row = connection.execute(delete(lti_logins).where(mine).returning(*lti_logins.c)).one_or_none()
    if row is None:
        return None
    return Login(row.state_hash, row.registration, row.browser_hash, row.nonce, row.asked)


def _take_ticket(connection: Connection, token_hash: str, purpose: str, now: datetime) -> Ticket | None:
    mine = _alive(token_hash, purpose, now)
    row = connection.execute(delete(lti_tickets).where(mine).returning(*lti_tickets.c)).one_or_none()
    return None if row is None else _as_ticket(row)


def _alive(token_hash: str, purpose: str, now: datetime) -> ColumnElement[bool]:
    ticket = lti_tickets.c
    return (ticket.token_hash == token_hash) & (ticket.purpose == purpose) & (ticket.expires_at > now.timestamp())


def _as_ticket(row: Row[Any]) -> Ticket:
    return Ticket(row.token_hash, row.registration, row.purpose, row.launch)
