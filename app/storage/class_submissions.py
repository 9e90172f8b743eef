"""What a section's learners have handed in. Every query names the section, so nothing of anybody else comes out.

A learner who was dropped or left is still here with what they handed in until then. Runs of cells and of public
checks are nobody's business but the learner's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, Connection, FromClause, Row, Select, and_, case, distinct, func, select

from app.access.permissions import Role
from app.storage.audit import Actor, write_line
from app.storage.records import AccountId, SectionId
from app.storage.statements import fetch, moment, optional_moment
from app.storage.tables import ACTIVE, INVITED, accounts, memberships, roster, sections
from graders.contract.model import LearnerId, SubmissionId
from graders.contract.results import Outcome
from graders.ledger.database import Database
from graders.ledger.stored import read_job
from graders.ledger.tables import finished, is_graded, submissions


@dataclass(frozen=True)
class SectionLearner:
    """`name` is the roster's where there is one. `left_at` is None for somebody who is still here."""

    account: AccountId
    learner: LearnerId
    name: str
    left_at: datetime | None = None


@dataclass(frozen=True)
class ExerciseCount:
    """How many learners handed in an answer that was judged, and how many passed."""

    exercise: str
    tried: int
    passed: int
    newest_at: datetime


@dataclass(frozen=True)
class Attempts:
    """One learner's attempts at one exercise, with the newest. `outcome` is empty while it waits or runs."""

    learner: LearnerId
    exercise: str
    count: int
    passed: bool
    newest: SubmissionId
    newest_at: datetime
    outcome: str


@dataclass(frozen=True)
class PassedText:
    """The first text with which somebody passed."""

    who: SectionLearner
    submission: SubmissionId
    source: str


class ClassSubmissions:
    """Reads what was handed in. Each method is one read, or one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def zone(self, section: SectionId) -> ZoneInfo:
        """In which the section's dates are set and read."""
        rows = await self._database.read(fetch, select(sections.c.zone).where(sections.c.id == section))
        return ZoneInfo(rows[0].zone)

    async def learners(self, section: SectionId) -> tuple[SectionLearner, ...]:
        """The learners of the section by name, also those who are no longer there."""
        return await self._database.read(_learners, section)

    async def find_learner(self, section: SectionId, account: AccountId) -> SectionLearner | None:
        found = await self._database.read(_learners, section, memberships.c.account == account)
        return found[0] if found else None

    async def count_exercises(self, section: SectionId) -> tuple[ExerciseCount, ...]:
        return await self._database.read(_count_exercises, section)

    async def of_exercise(self, section: SectionId, exercise: str) -> tuple[Attempts, ...]:
        """Each learner's attempts at one exercise; nobody who has none."""
        return await self._database.read(_attempts, section, submissions.c.exercise == exercise)

    async def of_learner(self, section: SectionId, account: AccountId) -> tuple[Attempts, ...]:
        """One learner's attempts at each exercise."""
        return await self._database.read(_attempts, section, accounts.c.id == account)

    async def find_owner(self, section: SectionId, submission: SubmissionId) -> SectionLearner | None:
        """Whose submission it is, if it was handed in by a learner of this section."""
        return await self._database.read(_find_owner, section, submission)

    async def first_passed(self, section: SectionId, exercise: str) -> tuple[PassedText, ...]:
        """The first text with which each present learner passed."""
        return await self._database.read(_first_passed, section, exercise)

    async def note_compared(self, section: SectionId, subjects: Sequence[str], actor: Actor) -> None:
        """Write to the audit that somebody compared programs: those of an exercise, or of people by account."""
        await self._database.write(_note_compared, section, subjects, actor)


_NAME = func.coalesce(roster.c.name, accounts.c.name).label("name")


def _people() -> FromClause:
    named = (roster.c.section == memberships.c.section) & (roster.c.account == memberships.c.account)
    return memberships.join(accounts, accounts.c.id == memberships.c.account).outerjoin(roster, named)


def _is_learner_of(section: SectionId) -> ColumnElement[bool]:
    return and_(
        memberships.c.section == section,
        memberships.c.role == Role.LEARNER.value,
        memberships.c.status != INVITED,
    )


def _with_submissions() -> FromClause:
    return _people().join(submissions, submissions.c.learner == accounts.c.learner)


def _was_there() -> ColumnElement[bool]:
    """Handed in by somebody who is in the section, or was then."""
    is_here = memberships.c.status == ACTIVE
    return is_graded & (is_here | (submissions.c.submitted_at <= memberships.c.dropped_at))


def was_handed_in_here(section: SectionId) -> ColumnElement[bool]:
    """Of a query for submissions: handed in by a learner of the section, and not after they had left."""
    here = select(submissions.c.number).select_from(_with_submissions()).where(_is_learner_of(section), _was_there())
    return submissions.c.number.in_(here)


def _as_learner(row: Row[Any]) -> SectionLearner:
    left_at = None if row.status == ACTIVE else optional_moment(row.dropped_at)
    return SectionLearner(AccountId(row.account), LearnerId(row.learner), row.name, left_at)


_WHO = (memberships.c.account, memberships.c.status, memberships.c.dropped_at, accounts.c.learner, _NAME)


def _learners(connection: Connection, section: SectionId, *more: ColumnElement[bool]) -> tuple[SectionLearner, ...]:
    query = select(*_WHO).select_from(_people()).where(_is_learner_of(section), *more).order_by(_NAME, accounts.c.id)
    return tuple(map(_as_learner, fetch(connection, query)))


def _count_exercises(connection: Connection, section: SectionId) -> tuple[ExerciseCount, ...]:
    row = submissions.c
    passed = case((row.outcome == Outcome.PASSED.value, row.learner))
    query = (
        select(
            row.exercise,
            func.count(distinct(row.learner)).label("tried"),
            func.count(distinct(passed)).label("passed"),
            func.max(row.submitted_at).label("newest_at"),
        )
        .select_from(_with_submissions())
        .where(_is_learner_of(section), _was_there(), finished)
        .group_by(row.exercise)
    )
    return tuple(
        ExerciseCount(found.exercise, found.tried, found.passed, moment(found.newest_at))
        for found in fetch(connection, query)
    )


def _attempts(connection: Connection, section: SectionId, which: ColumnElement[bool]) -> tuple[Attempts, ...]:
    row = submissions.c
    counted = (
        select(
            func.count().label("attempts"),
            func.max(case((row.outcome == Outcome.PASSED.value, 1), else_=0)).label("passed"),
            func.max(row.number).label("number"),
        )
        .select_from(_with_submissions())
        .where(_is_learner_of(section), _was_there(), which)
        .group_by(row.learner, row.exercise)
        .subquery()
    )
    query: Select[Any] = select(
        row.learner, row.exercise, row.id, row.submitted_at, row.outcome, counted.c.attempts, counted.c.passed
    ).join(counted, counted.c.number == row.number)
    return tuple(
        Attempts(
            LearnerId(found.learner),
            found.exercise,
            found.attempts,
            bool(found.passed),
            SubmissionId(found.id),
            moment(found.submitted_at),
            found.outcome or "",
        )
        for found in fetch(connection, query.order_by(row.number.desc()))
    )


def _find_owner(connection: Connection, section: SectionId, submission: SubmissionId) -> SectionLearner | None:
    here = (submissions.c.id == submission) & _is_learner_of(section) & _was_there()
    found: Sequence[Row[Any]] = fetch(connection, select(*_WHO).select_from(_with_submissions()).where(here))
    return _as_learner(found[0]) if found else None


def _first_passed(connection: Connection, section: SectionId, exercise: str) -> tuple[PassedText, ...]:
    row = submissions.c
    passed = is_graded & finished & (row.exercise == exercise) & (row.outcome == Outcome.PASSED.value)
    first = select(func.min(row.number)).where(passed).group_by(row.learner)
    is_here = _is_learner_of(section) & (memberships.c.status == ACTIVE)
    query = (
        select(*_WHO, row.id.label("submission"), row.job)
        .select_from(_with_submissions())
        .where(is_here, row.number.in_(first))
        .order_by(_NAME, accounts.c.id)
    )
    return tuple(
        PassedText(_as_learner(found), SubmissionId(found.submission), read_job(found.job).source)
        for found in fetch(connection, query)
    )


def _note_compared(connection: Connection, section: SectionId, subjects: Sequence[str], actor: Actor) -> None:
    for subject in subjects:
        write_line(connection, actor, "compare programs", subject, section=section)
