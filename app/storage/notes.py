"""Readers' own notes and bookmarks in the course: private, one for each place. A bookmark is a note without text."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, func, select

from app.storage.statements import change, fetch, insert_into, insert_new, moment
from app.storage.tables import learners, notes
from graders.contract.model import LearnerId
from graders.ledger.database import Database

MAX_NOTES_OF_ONE = 1000
"""How many notes one learner may have. All of them are listed and searched at once."""


@dataclass(frozen=True)
class Note:
    """`page` and `block` name the place, as in app.course.spots; `content_hash` is of the wording that was read."""

    page: str
    block: str
    text: str
    content_hash: str
    saved_at: datetime


class Notes:
    """Reads and writes notes. Each method is one transaction, or one read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, learner: LearnerId, note: Note) -> bool:
        """Store a note in place of the one at the same place. False if the learner has too many."""
        return await self._database.write(_save, learner, note)

    async def remove(self, learner: LearnerId, page: str, block: str) -> None:
        mine = (notes.c.learner == learner) & (notes.c.page == page) & (notes.c.block == block)
        await self._database.write(change, delete(notes).where(mine))

    async def of_learner(self, learner: LearnerId) -> tuple[Note, ...]:
        """All notes of a learner, newest first."""
        query = select(notes).where(notes.c.learner == learner).order_by(notes.c.saved_at.desc())
        return tuple(map(_as_note, await self._database.read(fetch, query)))

    async def of_page(self, learner: LearnerId, page: str) -> dict[str, Note]:
        """The learner's notes on one page, by block."""
        query = select(notes).where(notes.c.learner == learner, notes.c.page == page)
        return {row.block: _as_note(row) for row in await self._database.read(fetch, query)}


def _save(connection: Connection, learner: LearnerId, note: Note) -> bool:
    insert_new(connection, learners, {"id": learner, "created_at": note.saved_at.timestamp()})
    others = (notes.c.learner == learner) & ~((notes.c.page == note.page) & (notes.c.block == note.block))
    if connection.execute(select(func.count()).select_from(notes).where(others)).scalar_one() >= MAX_NOTES_OF_ONE:
        return False
    written = {"text": note.text, "content_hash": note.content_hash, "saved_at": note.saved_at.timestamp()}
    row = {"learner": learner, "page": note.page, "block": note.block, **written}
    keys = [key.name for key in notes.primary_key]
    statement = insert_into(connection, notes).values(row)
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=written))
    return True


def _as_note(row: Row[Any]) -> Note:
    return Note(row.page, row.block, row.text, row.content_hash, moment(row.saved_at))
