"""What readers report as wrong in the course, and what became of it: a closed report says what was changed."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, func, insert, select, update

from app.storage.audit import Actor, write_line
from app.storage.records import SectionId
from app.storage.statements import change, fetch, insert_new, moment, optional_moment
from app.storage.tables import ACTIVE, accounts, learners, memberships, reports
from graders.contract.model import LearnerId
from graders.ledger.database import Database

MAX_OPEN_OF_ONE = 50
"""How many open reports one learner may have, so that one flooder cannot bury the others."""


class ReportState(StrEnum):
    OPEN = "open"
    CLOSED = "closed"
    ALL = "all"


@dataclass(frozen=True)
class Report:
    """`page` and `block` name the place, as in app.course.spots; `content_hash` is of the wording that was read.

    `closed_at` is None while the report is open; `note` then is empty.
    """

    number: int
    page: str
    block: str
    content_hash: str
    course_version: str
    text: str
    reported_at: datetime
    closed_at: datetime | None = None
    note: str = ""


@dataclass(frozen=True)
class ReportFilter:
    """`section` keeps the reports of its active members; None keeps everybody's. An empty `page` keeps all pages."""

    section: SectionId | None = None
    state: ReportState = ReportState.OPEN
    page: str = ""


class Reports:
    """Reads and writes reports. Each method is one transaction, or one read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, learner: LearnerId, report: Report) -> bool:
        """Store an open report; its number is the database's. False if the learner has too many open ones.

        The same text about the same place counts as a form that was sent twice, and is stored once.
        """
        return await self._database.write(_add, learner, report)

    async def of_learner(self, learner: LearnerId) -> tuple[Report, ...]:
        """The learner's reports, newest first."""
        query = select(reports).where(reports.c.learner == learner).order_by(reports.c.number.desc())
        return tuple(map(_as_report, await self._database.read(fetch, query)))

    async def find(self, wanted: ReportFilter, most: int | None = None) -> tuple[Report, ...]:
        """The newest reports that the filter keeps, newest first."""
        query = select(reports).where(*_conditions(wanted)).order_by(reports.c.number.desc()).limit(most)
        return tuple(map(_as_report, await self._database.read(fetch, query)))

    async def count(self, wanted: ReportFilter) -> int:
        query = select(func.count()).select_from(reports).where(*_conditions(wanted))
        return int((await self._database.read(fetch, query))[0][0])

    async def pages(self, section: SectionId | None) -> tuple[str, ...]:
        """The pages about which there are reports, in alphabetical order."""
        anything = _conditions(ReportFilter(section, ReportState.ALL))
        query: Select[Any] = select(reports.c.page).where(*anything).distinct().order_by(reports.c.page)
        return tuple(row.page for row in await self._database.read(fetch, query))

    async def close(self, number: int, note: str, section: SectionId | None, actor: Actor) -> bool:
        """Close an open report of the section, or anybody's, with what was changed. False if there is none."""
        return await self._database.write(_close, number, note, section, actor)

    async def reopen(self, number: int, section: SectionId | None, actor: Actor) -> bool:
        """Open a closed report again; its note goes. False if there is no such report."""
        return await self._database.write(_reopen, number, section, actor)


def _add(connection: Connection, learner: LearnerId, report: Report) -> bool:
    insert_new(connection, learners, {"id": learner, "created_at": report.reported_at.timestamp()})
    mine = (reports.c.learner == learner) & reports.c.closed_at.is_(None)
    same = (
        mine & (reports.c.page == report.page) & (reports.c.block == report.block) & (reports.c.text == report.text)
    )
    if fetch(connection, select(reports.c.number).where(same)):
        return True
    open_ones = connection.execute(select(func.count()).select_from(reports).where(mine)).scalar_one()
    if open_ones >= MAX_OPEN_OF_ONE:
        return False
    connection.execute(
        insert(reports).values(
            learner=learner,
            page=report.page,
            block=report.block,
            content_hash=report.content_hash,
            course_version=report.course_version,
            text=report.text,
            reported_at=report.reported_at.timestamp(),
        )
    )
    return True


def _conditions(wanted: ReportFilter) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if wanted.section is not None:
        found.append(_is_of(wanted.section))
    if wanted.state is not ReportState.ALL:
        closed = reports.c.closed_at
        found.append(closed.is_(None) if wanted.state is ReportState.OPEN else closed.is_not(None))
    if wanted.page:
        found.append(reports.c.page == wanted.page)
    return found


def _is_of(section: SectionId) -> ColumnElement[bool]:
    people = (
        select(accounts.c.learner)
        .join(memberships, memberships.c.account == accounts.c.id)
        .where(memberships.c.section == section, memberships.c.status == ACTIVE)
    )
    return reports.c.learner.in_(people)


def _this(number: int, section: SectionId | None) -> ColumnElement[bool]:
    this = reports.c.number == number
    return this if section is None else this & _is_of(section)


def _close(connection: Connection, number: int, note: str, section: SectionId | None, actor: Actor) -> bool:
    this = _this(number, section) & reports.c.closed_at.is_(None)
    values = {"closed_at": actor.at.timestamp(), "note": note, "closed_by": actor.account}
    if change(connection, update(reports).where(this).values(values)) == 0:
        return False
    write_line(connection, actor, "close a report", f"report {number}", section=section, after=note)
    return True


def _reopen(connection: Connection, number: int, section: SectionId | None, actor: Actor) -> bool:
    this = _this(number, section) & reports.c.closed_at.is_not(None)
    found = fetch(connection, select(reports.c.note).where(this))
    if not found:
        return False
    change(connection, update(reports).where(this).values(closed_at=None, note=None, closed_by=None))
    write_line(connection, actor, "reopen a report", f"report {number}", section=section, before=found[0].note)
    return True


def _as_report(row: Row[Any]) -> Report:
    return Report(
        number=row.number,
        page=row.page,
        block=row.block,
        content_hash=row.content_hash,
        course_version=row.course_version,
        text=row.text,
        reported_at=moment(row.reported_at),
        closed_at=optional_moment(row.closed_at),
        note=row.note or "",
    )
