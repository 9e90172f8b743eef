"""What a section's staff write about a submission. Only its learner and that section's staff read it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, func, insert, select, update

from app.storage.audit import Actor, write_line
from app.storage.class_submissions import SectionLearner
from app.storage.records import AccountId, SectionId
from app.storage.statements import change, fetch, moment, optional_moment
from app.storage.tables import accounts, comments, sections
from graders.contract.model import LearnerId, SubmissionId
from graders.ledger.database import Database

MAX_OF_ONE_SUBMISSION = 200


@dataclass(frozen=True)
class NewComment:
    """`line` counts from 1; None is the whole submission."""

    submission: SubmissionId
    exercise: str
    line: int | None
    text: str


@dataclass(frozen=True)
class Comment:
    """`writer` is None once their account is erased. `zone` is the section's."""

    number: int
    submission: SubmissionId
    exercise: str
    line: int | None
    text: str
    section_title: str
    zone: str
    writer: AccountId | None
    writer_name: str
    made_at: datetime
    edited_at: datetime | None
    is_read: bool


class Comments:
    """Reads and writes comments. Each method is one transaction, or one read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, section: SectionId, learner: SectionLearner, comment: NewComment, actor: Actor) -> bool:
        """Comment on a submission of this learner, or find the actor's equal comment. False if it has too many."""
        return await self._database.write(_add, section, learner, comment, actor)

    async def edit(self, section: SectionId, submission: SubmissionId, number: int, text: str, actor: Actor) -> bool:
        """Change a comment of the actor's own. False if there is no such one."""
        return await self._database.write(_edit, section, submission, number, text, actor)

    async def delete(self, section: SectionId, submission: SubmissionId, number: int, actor: Actor) -> bool:
        """Delete a comment of the actor's own. False if there is no such one."""
        return await self._database.write(_delete, section, submission, number, actor)

    async def of_section(self, section: SectionId, submission: SubmissionId) -> tuple[Comment, ...]:
        """What this section's staff wrote about a submission: first about the whole of it, then line by line."""
        here = (comments.c.section == section) & (comments.c.submission == submission)
        return await self._database.read(_read, here)

    async def of_learner(self, learner: LearnerId, submission: SubmissionId | None = None) -> tuple[Comment, ...]:
        """What was written about the learner's submissions, or about one of them, by the staff of any section."""
        mine = comments.c.learner == learner
        return await self._database.read(_read, mine if submission is None else mine & _about(submission))

    async def count_unread(self, learner: LearnerId) -> Mapping[SubmissionId, int]:
        """How many comments the learner has not been shown yet, by submission."""
        query = select(comments.c.submission).where(comments.c.learner == learner, comments.c.read_at.is_(None))
        rows = await self._database.read(fetch, query)
        return Counter(SubmissionId(row.submission) for row in rows)

    async def mark_read(self, learner: LearnerId, submission: SubmissionId, now: datetime) -> None:
        shown = (comments.c.learner == learner) & _about(submission) & comments.c.read_at.is_(None)
        await self._database.write(change, update(comments).where(shown).values(read_at=now.timestamp()))


def _about(submission: SubmissionId) -> ColumnElement[bool]:
    return comments.c.submission == submission


def _read(connection: Connection, which: ColumnElement[bool]) -> tuple[Comment, ...]:
    columns = (comments, sections.c.title, sections.c.zone, accounts.c.name.label("writer_name"))
    query = (
        select(*columns)
        .join_from(comments, sections, sections.c.id == comments.c.section)
        .outerjoin(accounts, accounts.c.id == comments.c.made_by)
        .where(which)
        .order_by(func.coalesce(comments.c.line, 0), comments.c.number)
    )
    return tuple(map(_as_comment, fetch(connection, query)))


def _as_comment(row: Row[Any]) -> Comment:
    return Comment(
        number=row.number,
        submission=SubmissionId(row.submission),
        exercise=row.exercise,
        line=row.line,
        text=row.text,
        section_title=row.title,
        zone=row.zone,
        writer=None if row.made_by is None else AccountId(row.made_by),
        writer_name=row.writer_name or "a former member of the staff",
        made_at=moment(row.made_at),
        edited_at=optional_moment(row.edited_at),
        is_read=row.read_at is not None,
    )


def _add(connection: Connection, section: SectionId, learner: SectionLearner, new: NewComment, actor: Actor) -> bool:
    row = {"section": section, "learner": learner.learner, "submission": new.submission, "exercise": new.exercise}
    written = {"line": new.line, "text": new.text, "made_by": actor.account}
    # A form that is sent twice, by a double click or by going back, adds one comment.
    again = [comments.c[name].is_not_distinct_from(value) for name, value in (row | written).items()]
    if fetch(connection, select(comments.c.number).where(*again)):
        return True
    so_far = select(func.count()).select_from(comments).where(_about(new.submission))
    if connection.execute(so_far).scalar_one() >= MAX_OF_ONE_SUBMISSION:
        return False
    values = row | written | {"made_at": actor.at.timestamp()}
    number = connection.execute(insert(comments).values(values).returning(comments.c.number)).scalar_one()
    write_line(
        connection, actor, "comment on a submission", learner.account, section=section, after=f"comment {number}"
    )
    return True


def _own(
    connection: Connection, section: SectionId, submission: SubmissionId, number: int, actor: Actor
) -> tuple[ColumnElement[bool], str] | None:
    """The actor's comment, and the account that it is about."""
    own = (comments.c.number == number) & (comments.c.section == section) & (comments.c.made_by == actor.account)
    own &= _about(submission)
    query = select(accounts.c.id).join(comments, comments.c.learner == accounts.c.learner).where(own)
    found = fetch(connection, query)
    return (own, found[0].id) if found else None


def _edit(
    connection: Connection, section: SectionId, submission: SubmissionId, number: int, text: str, actor: Actor
) -> bool:
    found = _own(connection, section, submission, number, actor)
    if found is None:
        return False
    own, about = found
    # An edit is news to the learner, who may have read something else before.
    values = {"text": text, "edited_at": actor.at.timestamp(), "read_at": None}
    change(connection, update(comments).where(own).values(values))
    write_line(connection, actor, "edit a comment", about, section=section, after=f"comment {number}")
    return True


def _delete(connection: Connection, section: SectionId, submission: SubmissionId, number: int, actor: Actor) -> bool:
    found = _own(connection, section, submission, number, actor)
    if found is None:
        return False
    own, about = found
    change(connection, delete(comments).where(own))
    write_line(connection, actor, "delete a comment", about, section=section, before=f"comment {number}")
    return True
