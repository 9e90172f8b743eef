"""Calendars: the secret address under which a learner's own programs read the days of their review."""

from datetime import datetime

from sqlalchemy import Connection, delete, insert, select, update

from app.storage.statements import change, fetch, optional_moment
from app.storage.tables import calendars
from graders.contract.model import LearnerId
from graders.ledger.database import Database


class Calendars:
    """A learner has one calendar at most. Each method is one transaction, or one read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open(self, learner: LearnerId, token_hash: str, now: datetime) -> None:
        """Give the learner's calendar this address; the address before stops."""
        await self._database.write(_open, learner, token_hash, now)

    async def close(self, learner: LearnerId) -> None:
        await self._database.write(change, delete(calendars).where(calendars.c.learner == learner))

    async def find(self, token_hash: str) -> LearnerId | None:
        """Whose calendar has this address."""
        query = select(calendars.c.learner).where(calendars.c.token_hash == token_hash)
        return next((LearnerId(row.learner) for row in await self._database.read(fetch, query)), None)

    async def opened_at(self, learner: LearnerId) -> datetime | None:
        """When the learner's present address was made; None without one."""
        query = select(calendars.c.made_at).where(calendars.c.learner == learner)
        return next((optional_moment(row.made_at) for row in await self._database.read(fetch, query)), None)


def _open(connection: Connection, learner: LearnerId, token_hash: str, now: datetime) -> None:
    change(connection, delete(calendars).where(calendars.c.learner == learner))
    connection.execute(insert(calendars).values(learner=learner, token_hash=token_hash, made_at=now.timestamp()))


def give_calendar(connection: Connection, old: LearnerId, new: LearnerId) -> None:
    """The calendar changes hands with the work, unless its new owner has one already."""
    taken = select(calendars.c.learner).where(calendars.c.learner == new).exists()
    change(connection, update(calendars).where(calendars.c.learner == old, ~taken).values(learner=new))
