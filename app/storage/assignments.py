"""Assignments of a section, and what one person was granted beyond their dates."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, Connection, Row, delete, func, select, update

from app.access.permissions import Role
from app.learning.grading import Allowance, Assignment, Counts, Credit, Kind, Policy
from app.storage.audit import Actor, write_line
from app.storage.handed_in import ClassWork, count_handed_in, learners_of, read_class_work
from app.storage.records import AccountId, SectionId
from app.storage.statements import change, fetch, insert_into, insert_new, optional_moment
from app.storage.tables import (
    ACTIVE,
    accounts,
    allowances,
    assignments,
    learners,
    memberships,
    overrides,
    roster,
    sections,
)
from graders.contract.model import LearnerId
from graders.ledger.database import Database

TIMES = ("opens_at", "due_at", "closes_at")
CHANGED_BY_A_FORM = ("title", "points", "counts", "credit", *TIMES, "late_percent_a_day", "attempts", "published")


@dataclass(frozen=True)
class Assigned:
    """What one section asks of a learner, and what they did for it: published assignments alone, in their order.

    `own_zone` is the learner's own time zone, if it is known.
    """

    section: SectionId
    title: str
    account: AccountId
    own_zone: ZoneInfo | None
    policy: Policy
    is_archived: bool
    assignments: tuple[Assignment, ...]
    work: ClassWork


@dataclass(frozen=True)
class Granted:
    """An allowance as the desk lists it. `granted_by` is empty where that account is gone."""

    account: AccountId
    name: str
    allowance: Allowance
    granted_by: str


class Assignments:
    """Reads and writes assignments. Each method is one transaction, or one read.

    The id of another section's assignment finds nothing.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def policy(self, section: SectionId) -> Policy:
        return await self._database.read(_read_policy, section)

    async def of_section(self, section: SectionId) -> tuple[Assignment, ...]:
        """All assignments, published or not, in the section's order."""
        return await self._database.read(read_assignments, section)

    async def class_work(
        self, section: SectionId, assigned: Sequence[Assignment], people: Iterable[AccountId] | None = None
    ) -> ClassWork:
        """The work of all learners of the section, or of `people` among them, for `assigned` of its assignments."""
        return await self._database.read(read_class_work, section, assigned, people)

    async def count_handed_in(self, section: SectionId, assigned: Sequence[Assignment]) -> Mapping[str, int]:
        """By assignment, how many of the section's active learners have handed in anything for it."""
        return await self._database.read(count_handed_in, section, assigned)

    async def of_learner(self, learner: LearnerId, now: datetime, target: str = "") -> tuple[Assigned, ...]:
        """What each section asks of an active learner, by the section's title.

        Only what is published and open by now; of `target` alone, if it is given.
        """
        return await self._database.read(_read_assigned, learner, now, target)

    async def of_nobody(self, section: SectionId, now: datetime, target: str = "") -> Assigned:
        """What the section asks of a learner who has done nothing, as it stood published and open at `now`."""
        return await self._database.read(_read_for_nobody, section, now, target)

    async def make(self, section: SectionId, new: Sequence[Assignment], actor: Actor) -> int:
        """Add assignments at the end, with ids of their own; returns how many. One that is there already stays."""
        return await self._database.write(_make, section, new, actor)

    async def change(self, section: SectionId, changed: Assignment, actor: Actor) -> bool:
        """Write an assignment's title, points, rules, dates and whether it is published. False if there is none."""
        return await self._database.write(_change, section, changed, actor)

    async def move(self, section: SectionId, assignment: str, *, up: bool) -> bool:
        """Swap an assignment with the one before or after it. False at the end of the list."""
        return await self._database.write(_move, section, assignment, up=up)

    async def delete(self, section: SectionId, assignment: Assignment, actor: Actor) -> bool:
        """Delete an assignment. False, and nothing changes, if somebody did, was granted or was given anything."""
        return await self._database.write(_delete, section, assignment, actor)

    async def granted(self, section: SectionId, assignment: str) -> tuple[Granted, ...]:
        """The allowances for an assignment, by name."""
        return await self._database.read(_read_granted, section, assignment)

    async def grant(
        self, section: SectionId, assignment: str, account: AccountId, allowance: Allowance, actor: Actor
    ) -> bool:
        """Give a learner of the section an allowance in place of the one before. False if there is no such one."""
        return await self._database.write(_grant, section, assignment, account, allowance, actor)

    async def withdraw(
        self, section: SectionId, assignment: str, account: AccountId, reason: str, actor: Actor
    ) -> bool:
        """Take an allowance back. False if there is none."""
        return await self._database.write(_withdraw, section, assignment, account, reason, actor)


def read_assignments(
    connection: Connection, section: SectionId, *conditions: ColumnElement[bool]
) -> tuple[Assignment, ...]:
    query = select(assignments).where(assignments.c.section == section, *conditions)
    rows = fetch(connection, query.order_by(assignments.c.position, assignments.c.made_at, assignments.c.id))
    return tuple(map(_as_assignment, rows))


def _read_policy(connection: Connection, section: SectionId) -> Policy:
    return _as_policy(connection.execute(select(sections).where(sections.c.id == section)).one())


def _is_set(now: datetime, target: str) -> list[ColumnElement[bool]]:
    opens = assignments.c.opens_at
    conditions: list[ColumnElement[bool]] = [assignments.c.published, opens.is_(None) | (opens <= now.timestamp())]
    return [*conditions, assignments.c.target == target] if target else conditions


def _read_for_nobody(connection: Connection, section: SectionId, now: datetime, target: str) -> Assigned:
    row = connection.execute(select(sections).where(sections.c.id == section)).one()
    assigned = read_assignments(connection, section, *_is_set(now, target))
    is_archived = row.archived_at is not None
    return Assigned(section, row.title, AccountId(""), None, _as_policy(row), is_archived, assigned, ClassWork())


def _read_assigned(connection: Connection, learner: LearnerId, now: datetime, target: str) -> tuple[Assigned, ...]:
    mine = (accounts.c.learner == learner) & (memberships.c.status == ACTIVE)
    mine &= memberships.c.role == Role.LEARNER.value
    query = (
        select(sections, accounts.c.id.label("account"), learners.c.zone.label("own_zone"))
        .join(memberships, memberships.c.section == sections.c.id)
        .join(accounts, accounts.c.id == memberships.c.account)
        .join(learners, learners.c.id == accounts.c.learner)
        .where(mine)
        .order_by(sections.c.title, sections.c.id)
    )
    conditions = _is_set(now, target)
    found = []
    for row in fetch(connection, query):
        section, account = SectionId(row.id), AccountId(row.account)
        assigned = read_assignments(connection, section, *conditions)
        work = read_class_work(connection, section, assigned, [account]) if assigned else ClassWork()
        own_zone = ZoneInfo(row.own_zone) if row.own_zone else None
        rest = (_as_policy(row), row.archived_at is not None, assigned, work)
        found.append(Assigned(section, row.title, account, own_zone, *rest))
    return tuple(found)


def _make(connection: Connection, section: SectionId, new: Sequence[Assignment], actor: Actor) -> int:
    last = connection.execute(
        select(func.max(assignments.c.position)).where(assignments.c.section == section)
    ).scalar()
    position, made = -1 if last is None else last, 0
    for one in new:
        row = {**_as_row(one), "id": secrets.token_hex(16), "section": section, "position": position + 1}
        row |= {"kind": one.kind.value, "target": one.target, "made_at": actor.at.timestamp()}
        if insert_new(connection, assignments, row):
            position, made = position + 1, made + 1
            what = f"{one.kind.value} {one.target}"
            write_line(connection, actor, "make an assignment", row["id"], section=section, after=what)
    return made


def _change(connection: Connection, section: SectionId, changed: Assignment, actor: Actor) -> bool:
    before = read_assignments(connection, section, assignments.c.id == changed.id)
    if not before:
        return False
    old, new = _as_row(before[0]), _as_row(changed)
    differing = [name for name in CHANGED_BY_A_FORM if old[name] != new[name]]
    if differing:
        change(connection, update(assignments).where(_key(section, changed.id)).values(new))
        texts = [_say_columns(one, differing) for one in (before[0], changed)]
        write_line(
            connection,
            actor,
            "change an assignment",
            changed.id,
            section=section,
            before=texts[0],
            after=texts[1],
        )
    return True


def _move(connection: Connection, section: SectionId, assignment: str, *, up: bool) -> bool:
    ids = [one.id for one in read_assignments(connection, section)]
    if assignment not in ids:
        return False
    place = ids.index(assignment)
    other = place - 1 if up else place + 1
    if not 0 <= other < len(ids):
        return False
    ids[place], ids[other] = ids[other], ids[place]
    for position, each in enumerate(ids):
        change(connection, update(assignments).where(_key(section, each)).values(position=position))
    return True


def _delete(connection: Connection, section: SectionId, assignment: Assignment, actor: Actor) -> bool:
    work = read_class_work(connection, section, [assignment])
    decided = select(overrides.c.number).where(overrides.c.assignment == assignment.id).limit(1)
    if work.handed_in or work.allowances or fetch(connection, decided):
        return False
    deleted = change(connection, delete(assignments).where(_key(section, assignment.id))) == 1
    if deleted:
        what = f"{assignment.kind.value} {assignment.target}"
        write_line(connection, actor, "delete an assignment", assignment.id, section=section, before=what)
    return deleted


def _read_granted(connection: Connection, section: SectionId, assignment: str) -> tuple[Granted, ...]:
    granter, named = accounts.alias(), (roster.c.section == section) & (roster.c.account == allowances.c.account)
    name = func.coalesce(roster.c.name, accounts.c.name).label("name")
    query = (
        select(allowances, name, granter.c.name.label("granted_by"))
        .join(assignments, assignments.c.id == allowances.c.assignment)
        .join(accounts, accounts.c.id == allowances.c.account)
        .outerjoin(granter, granter.c.id == allowances.c.made_by)
        .outerjoin(roster, named)
        .where(_key(section, assignment))
        .order_by(name)
    )
    return tuple(
        Granted(AccountId(row.account), row.name, _as_allowance(row), row.granted_by or "")
        for row in fetch(connection, query)
    )


def _grant(
    connection: Connection,
    section: SectionId,
    assignment: str,
    account: AccountId,
    allowance: Allowance,
    actor: Actor,
) -> bool:
    is_here = fetch(connection, learners_of(section, [account]))
    found = read_assignments(connection, section, assignments.c.id == assignment)
    if not is_here or not found:
        return False
    key = (allowances.c.assignment == assignment) & (allowances.c.account == account)
    before = [_say_allowance(_as_allowance(row)) for row in fetch(connection, select(allowances).where(key))]
    values: dict[str, Any] = {
        "due_at": _seconds(allowance.due_at),
        "closes_at": _seconds(allowance.closes_at),
        "attempts": allowance.attempts,
        "excused": allowance.excused,
        "reason": allowance.reason,
        "made_by": actor.account,
        "made_at": actor.at.timestamp(),
    }
    statement = insert_into(connection, allowances).values(assignment=assignment, account=account, **values)
    connection.execute(statement.on_conflict_do_update(index_elements=["assignment", "account"], set_=values))
    after = f"{found[0].title}: {_say_allowance(allowance)}"
    line = {"before": before[0] if before else None, "after": after, "reason": allowance.reason}
    write_line(connection, actor, "grant an allowance", account, section=section, **line)
    return True


def _withdraw(
    connection: Connection, section: SectionId, assignment: str, account: AccountId, reason: str, actor: Actor
) -> bool:
    this = (allowances.c.assignment == assignment) & (allowances.c.account == account)
    this &= allowances.c.assignment.in_(select(assignments.c.id).where(_key(section, assignment)))
    query = select(allowances, assignments.c.title).join(assignments, assignments.c.id == allowances.c.assignment)
    found = fetch(connection, query.where(this))
    if not found:
        return False
    change(connection, delete(allowances).where(this))
    before = f"{found[0].title}: {_say_allowance(_as_allowance(found[0]))}"
    write_line(connection, actor, "withdraw an allowance", account, section=section, before=before, reason=reason)
    return True


def _key(section: SectionId, assignment: str) -> ColumnElement[bool]:
    return (assignments.c.section == section) & (assignments.c.id == assignment)


def _seconds(at: datetime | None) -> float | None:
    return None if at is None else at.timestamp()


def _as_row(one: Assignment) -> Mapping[str, Any]:
    """The columns that a form changes."""
    row = {name: getattr(one, name) for name in CHANGED_BY_A_FORM}
    times = {name: _seconds(row[name]) for name in TIMES}
    return row | times | {"counts": one.counts.value, "credit": one.credit.value}


def _as_assignment(row: Row[Any]) -> Assignment:
    return Assignment(
        id=row.id,
        kind=Kind(row.kind),
        target=row.target,
        title=row.title,
        points=row.points,
        counts=Counts(row.counts),
        credit=Credit(row.credit),
        opens_at=optional_moment(row.opens_at),
        due_at=optional_moment(row.due_at),
        closes_at=optional_moment(row.closes_at),
        late_percent_a_day=row.late_percent_a_day,
        attempts=row.attempts,
        position=row.position,
        published=row.published,
    )


def _as_policy(row: Row[Any]) -> Policy:
    return Policy(ZoneInfo(row.zone), timedelta(minutes=row.grace_minutes), row.late_percent_a_day)


def _as_allowance(row: Row[Any]) -> Allowance:
    return Allowance(
        optional_moment(row.due_at), optional_moment(row.closes_at), row.attempts, row.excused, row.reason
    )


def _say_columns(one: Assignment, names: Sequence[str]) -> str:
    """For the audit, times in UTC."""
    return ", ".join(f"{name.replace('_', ' ')} {_say_value(getattr(one, name))}" for name in names)


def _say_value(value: object) -> str:
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M} UTC"
    return "none" if value is None else str(value)


def _say_allowance(one: Allowance) -> str:
    """For the audit, in UTC."""
    parts = [
        f"due {one.due_at:%Y-%m-%d %H:%M} UTC" if one.due_at else "",
        f"closes {one.closes_at:%Y-%m-%d %H:%M} UTC" if one.closes_at else "",
        f"{one.attempts} attempts" if one.attempts is not None else "",
        "excused" if one.excused else "",
    ]
    return ", ".join(filter(None, parts)) or "nothing"
