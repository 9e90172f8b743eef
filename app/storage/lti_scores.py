"""The outbox of grades: what platforms are to be told, what they were told, and why something did not arrive.

A row is one person's grade for one assignment in one course of a platform. Grades are computed and not stored, so the
rows come from comparing what is computed now with what each row says; nothing is lost if the process ends in between.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, func, select, update

from app.access.permissions import Role
from app.linking.delivery import find_stamp
from app.storage.audit import Actor, write_line
from app.storage.records import AccountId, SectionId
from app.storage.statements import change, fetch, insert_into, insert_new, moment, optional_moment
from app.storage.tables import (
    ACTIVE,
    accounts,
    assignments,
    lti_contexts,
    lti_lineitems,
    lti_members,
    lti_registrations,
    lti_scores,
    memberships,
)
from graders.ledger.database import Database

DUE, SENT, STOPPED = "due", "sent", "stopped"
SENT_AFTER = timedelta(seconds=60)
"""How long a new grade waits, so that a burst of changes becomes one message."""
LEASE = timedelta(minutes=3)


@dataclass(frozen=True)
class Score:
    """A grade as it is now. None `points`: there is none yet, or no longer."""

    assignment: str
    account: AccountId
    points: float | None
    maximum: float


@dataclass(frozen=True)
class Claimed:
    """A grade that this process sends now. `line_item` is empty until one was found or made."""

    course: str
    registration: str
    score: Score
    title: str
    kind: str
    subject: str
    stamp: float
    tries: int
    changed_at: datetime
    line_item: str
    lineitems_url: str
    scopes: str


@dataclass(frozen=True)
class Delivery:
    """How far a grade got, for its learner and for staff."""

    course: str
    platform: str
    section: SectionId
    assignment: str
    title: str
    account: AccountId
    name: str
    points: float | None
    maximum: float
    state: str
    sent_at: datetime | None
    problem: str


class LtiScores:
    """Reads and writes the outbox. Each method is one transaction, or one read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def recipients(self, course: str) -> tuple[AccountId, ...]:
        """The learners of the course's section who came from this course."""
        return await self._database.read(_read_recipients, course)

    async def note(self, course: str, scores: Sequence[Score], now: datetime) -> int:
        """Put what has changed into the outbox; returns how many.

        Mostly nothing has, and a class is read without keeping other writers waiting.
        """
        changed = await self._database.read(_find_changed, course, scores)
        return await self._database.write(_note, course, changed, now) if changed else 0

    async def note_line_item(self, course: str, assignment: str, url: str, now: datetime) -> None:
        """Keep where an assignment's grades go. If it was elsewhere, they are all sent again."""
        await self._database.write(_note_line_item, course, assignment, url, now)

    async def claim(self, now: datetime, count: int) -> tuple[Claimed, ...]:
        """Take grades that are due, for a while, with timestamps that no earlier message had."""
        return await self._database.write(_claim, now, count)

    async def finish(self, claimed: Claimed, stamp: float, now: datetime) -> None:
        """The platform has the grade. One that changed meanwhile stays due."""
        values = {"state": SENT, "tries": 0, "sent_at": now.timestamp(), "problem": None}
        await self._database.write(_settle, claimed, {**values, "stamp": stamp})

    async def postpone(self, claimed: Claimed, stamp: float, due_at: datetime, problem: str) -> None:
        values = {"due_at": due_at.timestamp(), "tries": claimed.tries + 1, "problem": problem, "stamp": stamp}
        await self._database.write(_settle, claimed, values)

    async def stop(self, claimed: Claimed, stamp: float, problem: str) -> None:
        """Nothing more is tried for this grade until it changes, or somebody asks for it."""
        await self._database.write(_settle, claimed, {"state": STOPPED, "problem": problem, "stamp": stamp})

    async def release(self, claimed: Iterable[Claimed]) -> None:
        """Give back what was claimed and not tried."""
        await self._database.write(_release, tuple(claimed))

    async def send_again(self, which: Mapping[str, str], actor: Actor) -> int:
        """Make grades due that were sent or stopped; returns how many. `which` names columns and their values."""
        return await self._database.write(send_grades_again, which, actor.at)

    async def send_all_again(self, course: str, actor: Actor) -> int:
        """Make all grades of a course due, and look again for the columns where something was stopped."""
        return await self._database.write(_send_all_again, course, actor)

    async def of_account(self, account: AccountId) -> tuple[Delivery, ...]:
        return await self._database.read(_read_deliveries, lti_scores.c.account == account)

    async def of_section(self, section: SectionId) -> tuple[Delivery, ...]:
        return await self._database.read(_read_deliveries, lti_contexts.c.section == section)


def _read_recipients(connection: Connection, course: str) -> tuple[AccountId, ...]:
    query = (
        select(lti_members.c.account)
        .join(lti_contexts, lti_contexts.c.id == lti_members.c.context)
        .join(memberships, and_(memberships.c.account == lti_members.c.account, memberships.c.status == ACTIVE))
        .where(lti_contexts.c.id == course, memberships.c.section == lti_contexts.c.section)
        .where(memberships.c.role == Role.LEARNER.value, lti_members.c.role == Role.LEARNER.value)
        .order_by(lti_members.c.account)
    )
    return tuple(AccountId(row.account) for row in fetch(connection, query))


def _read_rows(connection: Connection, course: str, scores: Sequence[Score]) -> Mapping[tuple[str, str], Row[Any]]:
    theirs = lti_scores.c.account.in_({score.account for score in scores})
    rows = fetch(connection, select(lti_scores).where(lti_scores.c.context == course, theirs))
    return {(row.assignment, row.account): row for row in rows}


def _find_changed(connection: Connection, course: str, scores: Sequence[Score]) -> tuple[Score, ...]:
    known = _read_rows(connection, course, scores)
    return tuple(score for score in scores if _is_changed(score, known.get((score.assignment, score.account))))


def _is_changed(score: Score, row: Row[Any] | None) -> bool:
    if row is None:
        return score.points is not None
    return bool(row.points != score.points or row.maximum != score.maximum)


def _note(connection: Connection, course: str, scores: Sequence[Score], now: datetime) -> int:
    known = _read_rows(connection, course, scores)
    changed = 0
    for score in scores:
        changed += _note_one(connection, course, score, known.get((score.assignment, score.account)), now)
    return changed


def _note_one(connection: Connection, course: str, score: Score, row: Row[Any] | None, now: datetime) -> bool:
    if not _is_changed(score, row):
        return False
    values = {"points": score.points, "maximum": score.maximum}
    at = {"changed_at": now.timestamp(), "due_at": (now + SENT_AFTER).timestamp()}
    if row is None:
        insert_new(connection, lti_lineitems, {"context": course, "assignment": score.assignment, "url": ""})
        key = {"context": course, "assignment": score.assignment, "account": score.account}
        return insert_new(connection, lti_scores, {**key, **values, **at, "state": DUE, "tries": 0})
    if row.state == DUE:
        at["due_at"] = min(row.due_at, at["due_at"])
    this = _key(course, score.assignment, score.account)
    changed = {**values, **at, "state": DUE, "tries": 0, "problem": None}
    return change(connection, update(lti_scores).where(this).values(changed)) == 1


def _note_line_item(connection: Connection, course: str, assignment: str, url: str, now: datetime) -> None:
    this = (lti_lineitems.c.context == course) & (lti_lineitems.c.assignment == assignment)
    before = connection.execute(select(lti_lineitems.c.url).where(this)).scalar_one_or_none()
    if before == url:
        return
    statement = insert_into(connection, lti_lineitems).values(context=course, assignment=assignment, url=url)
    connection.execute(statement.on_conflict_do_update(index_elements=["context", "assignment"], set_={"url": url}))
    if url:
        send_grades_again(connection, {"context": course, "assignment": assignment}, now)


def _claim(connection: Connection, now: datetime, count: int) -> tuple[Claimed, ...]:
    at = now.timestamp()
    is_due = (lti_scores.c.state == DUE) & (lti_scores.c.due_at <= at)
    is_due &= lti_scores.c.lease_until.is_(None) | (lti_scores.c.lease_until <= at)
    rows = fetch(connection, _select_claims().where(is_due).order_by(lti_scores.c.due_at).limit(count))
    claimed = []
    for row in rows:
        stamp = find_stamp(row.stamp, now)
        # Kept before it is sent: if this process ends in between, the next message has a later one all the same.
        lease = {"lease_until": (now + LEASE).timestamp(), "stamp": stamp}
        this = _key(row.context, row.assignment, row.account)
        connection.execute(update(lti_scores).where(this).values(lease))
        claimed.append(_as_claimed(row, stamp))
    return tuple(claimed)


def _select_claims() -> Any:
    columns = (assignments.c.title, assignments.c.kind, lti_members.c.subject, lti_lineitems.c.url)
    row, item = lti_scores.c, lti_lineitems.c
    member = and_(lti_members.c.context == row.context, lti_members.c.account == row.account)
    column = and_(item.context == row.context, item.assignment == row.assignment)
    return (
        select(lti_scores, *columns, lti_contexts.c.registration, lti_contexts.c.lineitems_url, lti_contexts.c.scopes)
        .join(lti_contexts, lti_contexts.c.id == lti_scores.c.context)
        .join(lti_registrations, lti_registrations.c.id == lti_contexts.c.registration)
        .join(assignments, assignments.c.id == lti_scores.c.assignment)
        .join(lti_members, member)
        .join(lti_lineitems, column)
        .where(lti_registrations.c.is_open, lti_contexts.c.section == assignments.c.section)
    )


def _as_claimed(row: Row[Any], stamp: float) -> Claimed:
    return Claimed(
        course=row.context,
        registration=row.registration,
        score=Score(row.assignment, AccountId(row.account), row.points, row.maximum),
        title=row.title,
        kind=row.kind,
        subject=row.subject,
        stamp=stamp,
        tries=row.tries,
        changed_at=moment(row.changed_at),
        line_item=row.url,
        lineitems_url=row.lineitems_url,
        scopes=row.scopes,
    )


def _settle(connection: Connection, claimed: Claimed, values: dict[str, Any]) -> None:
    """Write what became of a grade that was sent; only its stamp and its lease, if the grade is another one now."""
    score = claimed.score
    this = _key(claimed.course, score.assignment, score.account)
    is_same = lti_scores.c.points.is_(None) if score.points is None else lti_scores.c.points == score.points
    same = this & is_same & (lti_scores.c.maximum == score.maximum) & (lti_scores.c.state == DUE)
    if not change(connection, update(lti_scores).where(same).values({**values, "lease_until": None})):
        changed = update(lti_scores).where(this).values(lease_until=None, stamp=values["stamp"])
        connection.execute(changed)


def _release(connection: Connection, claimed: Sequence[Claimed]) -> None:
    for one in claimed:
        this = _key(one.course, one.score.assignment, one.score.account)
        connection.execute(update(lti_scores).where(this).values(lease_until=None))


def send_grades_again(connection: Connection, which: Mapping[str, str], now: datetime) -> int:
    """Make grades due that were sent or stopped; returns how many. `which` names columns and their values."""
    chosen = and_(lti_scores.c.state != DUE, *(lti_scores.c[name] == value for name, value in which.items()))
    values = {"state": DUE, "tries": 0, "due_at": now.timestamp(), "changed_at": now.timestamp(), "problem": None}
    return change(connection, update(lti_scores).where(chosen).values(values))


def _send_all_again(connection: Connection, course: str, actor: Actor) -> int:
    stopped = select(lti_scores.c.assignment).where(lti_scores.c.context == course, lti_scores.c.state == STOPPED)
    gone = (lti_lineitems.c.context == course) & lti_lineitems.c.assignment.in_(stopped)
    connection.execute(update(lti_lineitems).where(gone).values(url=""))
    count = send_grades_again(connection, {"context": course}, actor.at)
    section = connection.execute(select(lti_contexts.c.section).where(lti_contexts.c.id == course)).scalar_one()
    write_line(connection, actor, "send all grades again", course, section=section, after=str(count))
    return count


def _read_deliveries(connection: Connection, which: ColumnElement[bool]) -> tuple[Delivery, ...]:
    query = (
        select(
            lti_scores,
            lti_registrations.c.name.label("platform"),
            assignments.c.title,
            assignments.c.section,
            accounts.c.name,
        )
        .join(lti_contexts, lti_contexts.c.id == lti_scores.c.context)
        .join(lti_registrations, lti_registrations.c.id == lti_contexts.c.registration)
        .join(assignments, assignments.c.id == lti_scores.c.assignment)
        .join(accounts, accounts.c.id == lti_scores.c.account)
        .where(which, lti_contexts.c.section == assignments.c.section)
        .order_by(func.lower(accounts.c.name), assignments.c.position, lti_scores.c.context)
    )
    return tuple(
        Delivery(
            course=row.context,
            platform=row.platform,
            section=SectionId(row.section),
            assignment=row.assignment,
            title=row.title,
            account=AccountId(row.account),
            name=row.name,
            points=row.points,
            maximum=row.maximum,
            state=row.state,
            sent_at=optional_moment(row.sent_at),
            problem=row.problem or "",
        )
        for row in fetch(connection, query)
    )


def _key(course: str, assignment: str, account: str) -> ColumnElement[bool]:
    return and_(
        lti_scores.c.context == course, lti_scores.c.assignment == assignment, lti_scores.c.account == account
    )
