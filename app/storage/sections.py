"""Sections: what their instructors set, the code by which learners join, the archive; and who is in them."""

import secrets
from dataclasses import asdict
from datetime import date
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from app.access.permissions import Role
from app.storage.audit import Actor, write_line
from app.storage.copying import copy_assignments
from app.storage.memberships import (
    Joined,
    Source,
    accept,
    add_member,
    drop,
    find_membership,
    invite,
    is_key,
    join_as_learner,
    leave,
    list_resettable,
    read_memberships,
    take_back,
)
from app.storage.records import AccountId, Membership, Section, SectionId, SectionPlan, Status
from app.storage.statements import change, fetch, optional_moment
from app.storage.tables import ACTIVE, memberships, sections
from graders.ledger.database import Database

TWICE_SECONDS = 10
"""Within this time, an equal form is the same form sent twice."""


class Sections:
    """Reads and writes sections. Each method is one transaction, or one read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def make(self, title: str, actor: Actor) -> SectionId:
        """A section without people."""
        return await self._database.write(_make, SectionPlan(title), actor)

    async def make_own(self, plan: SectionPlan, actor: Actor) -> SectionId:
        """A section whose instructor is the actor."""
        return await self._database.write(_make_own, plan, actor)

    async def make_copy(self, source: SectionId, plan: SectionPlan, actor: Actor) -> SectionId | None:
        """The actor's new section with the assignments of `source`, whose instructor they are; otherwise None."""
        return await self._database.write(_make_copy, source, plan, actor)

    async def find(self, section: SectionId) -> Section | None:
        rows = await self._database.read(fetch, select(sections).where(sections.c.id == section))
        return next((_as_section(row) for row in rows), None)

    async def all(self) -> tuple[Section, ...]:
        """Every section, by title."""
        rows = await self._database.read(fetch, select(sections).order_by(sections.c.title, sections.c.id))
        return tuple(map(_as_section, rows))

    async def change(self, section: SectionId, plan: SectionPlan, actor: Actor) -> None:
        """Set what the section's instructor sets; the audit has what changed."""
        await self._database.write(_change, section, plan, actor)

    async def set_code(self, section: SectionId, code: str | None, actor: Actor) -> None:
        """Let whoever has this code become a learner, and nobody who has the former one; None: nobody at all."""
        await self._database.write(_set_code, section, code, actor)

    async def find_by_code(self, code: str) -> Section | None:
        """The section that this code joins, unless it is archived."""
        rows = await self._database.read(fetch, select(sections).where(_has_code(code)))
        return next((_as_section(row) for row in rows), None)

    async def join_by_code(self, code: str, actor: Actor) -> Joined | None:
        """Make the actor a learner of the section with this code. None if no section has it."""
        return await self._database.write(_join_by_code, code, actor)

    async def archive(self, section: SectionId, actor: Actor) -> None:
        """Nothing changes in the section any more, until it is opened again."""
        await self._database.write(_set_archived, section, True, actor)

    async def reopen(self, section: SectionId, actor: Actor) -> None:
        await self._database.write(_set_archived, section, False, actor)

    async def of_account(self, account: AccountId) -> tuple[Membership, ...]:
        """What the account is, is invited to be, or was in each section."""
        return await self._database.read(read_memberships, memberships.c.account == account)

    async def people(self, section: SectionId) -> tuple[Membership, ...]:
        """Who is, is invited to be, or was in the section."""
        return await self._database.read(read_memberships, memberships.c.section == section)

    async def find_role(self, section: SectionId, account: AccountId) -> Membership | None:
        """The account's active role in this section."""
        mine = is_key(section, account) & (memberships.c.status == ACTIVE)
        found = await self._database.read(read_memberships, mine)
        return found[0] if found else None

    async def find_membership(self, section: SectionId, account: AccountId) -> Membership | None:
        """What the account is, is invited to be, or was in this section."""
        return await self._database.read(find_membership, section, account)

    async def invite(self, section: SectionId, name: str, role: Role, actor: Actor) -> bool:
        """Offer a role to the account with this name, or raise a member's. False if nobody has the name.

        A lower role is an offer again.
        """
        return await self._database.write(invite, section, name, role, actor)

    async def accept(self, section: SectionId, actor: Actor) -> bool:
        """The actor takes the role that was offered to them. False if there is no such offer."""
        return await self._database.write(accept, section, actor)

    async def leave(self, section: SectionId, actor: Actor) -> bool:
        """The actor declines an offer, or leaves the section. False if they were not in it, or it is archived."""
        return await self._database.write(leave, section, actor)

    async def drop(self, section: SectionId, account: AccountId, actor: Actor) -> bool:
        """Take somebody out of the section, or take back an offer. False if there is neither."""
        return await self._database.write(drop, section, account, actor)

    async def take_back(self, section: SectionId, account: AccountId, actor: Actor) -> Status | None:
        """Whom the staff dropped is in again; who left gets an offer. None if the person did neither."""
        return await self._database.write(take_back, section, account, actor)

    async def resettable(self, section: SectionId) -> frozenset[AccountId]:
        """For whom staff of this section may make a link: its active learners who are staff nowhere."""
        return await self._database.read(list_resettable, section)

    async def may_reset(self, section: SectionId, account: AccountId) -> bool:
        return account in await self.resettable(section)


def _as_section(row: Row[Any]) -> Section:
    plan = SectionPlan(
        title=row.title,
        zone=row.zone,
        starts_on=date.fromisoformat(row.starts_on) if row.starts_on else None,
        ends_on=date.fromisoformat(row.ends_on) if row.ends_on else None,
        grace_minutes=row.grace_minutes,
        late_percent_a_day=row.late_percent_a_day,
        assistants_extend=row.assistants_extend,
    )
    return Section(SectionId(row.id), plan, row.join_code, optional_moment(row.archived_at))


def _as_row(plan: SectionPlan) -> dict[str, Any]:
    days = {"starts_on": plan.starts_on, "ends_on": plan.ends_on}
    return {**asdict(plan), **{name: day.isoformat() if day else None for name, day in days.items()}}


def _make(connection: Connection, plan: SectionPlan, actor: Actor) -> SectionId:
    section = SectionId(secrets.token_hex(16))
    connection.execute(insert(sections).values(id=section, made_at=actor.at.timestamp(), **_as_row(plan)))
    write_line(connection, actor, "make a section", section, section=section, after=plan.title)
    return section


def _make_own(connection: Connection, plan: SectionPlan, actor: Actor) -> SectionId:
    return _find_twin(connection, plan, actor) or _add_own(connection, plan, actor)


def _add_own(connection: Connection, plan: SectionPlan, actor: Actor) -> SectionId:
    assert actor.account is not None
    section = _make(connection, plan, actor)
    add_member(connection, section, actor.account, Role.INSTRUCTOR, actor, Source.PERSON)
    return section


def _find_twin(
    connection: Connection, plan: SectionPlan, actor: Actor, but: SectionId | None = None
) -> SectionId | None:
    """The section that the same form, sent twice, made a moment ago: a section cannot be deleted."""
    row = _as_row(plan) | {"archived_at": None}
    same = [sections.c[name].is_not_distinct_from(value) for name, value in row.items()]
    own = (memberships.c.account == actor.account) & (memberships.c.role == Role.INSTRUCTOR.value)
    recent = sections.c.made_at > actor.at.timestamp() - TWICE_SECONDS
    query = select(sections.c.id).join(memberships, memberships.c.section == sections.c.id)
    found = fetch(
        connection, query.where(own, recent, sections.c.id != (but or ""), *same).order_by(sections.c.made_at.desc())
    )
    return SectionId(found[0].id) if found else None


def _make_copy(connection: Connection, source: SectionId, plan: SectionPlan, actor: Actor) -> SectionId | None:
    assert actor.account is not None
    reader = find_membership(connection, source, actor.account)
    if reader is None or not reader.is_active or reader.role is not Role.INSTRUCTOR:
        return None
    former = _as_section(connection.execute(select(sections).where(sections.c.id == source)).one())
    twin = _find_twin(connection, plan, actor, but=source)
    if twin is not None:
        return twin
    section = _add_own(connection, plan, actor)
    copy_assignments(connection, (source, former.plan), (section, plan), actor)
    return section


def _change(connection: Connection, section: SectionId, plan: SectionPlan, actor: Actor) -> None:
    before = _as_row(_as_section(connection.execute(select(sections).where(sections.c.id == section)).one()).plan)
    after = _as_row(plan)
    changed = [name for name in after if after[name] != before[name]]
    if not changed:
        return
    connection.execute(update(sections).where(sections.c.id == section).values(after))
    was, now = (", ".join(f"{name}: {row[name]}" for name in changed) for row in (before, after))
    write_line(connection, actor, "change a section", section, section=section, before=was, after=now)


def _set_code(connection: Connection, section: SectionId, code: str | None, actor: Actor) -> None:
    """The audit has no code: whoever reads its lines would get in."""
    connection.execute(update(sections).where(sections.c.id == section).values(join_code=code))
    verb = "close the code" if code is None else "make a code to join"
    write_line(connection, actor, verb, section, section=section)


def _has_code(code: str) -> Any:
    return (sections.c.join_code == code) & sections.c.archived_at.is_(None)


def _join_by_code(connection: Connection, code: str, actor: Actor) -> Joined | None:
    row = connection.execute(select(sections.c.id, sections.c.title).where(_has_code(code))).one_or_none()
    if row is None:
        return None
    section = SectionId(row.id)
    return Joined(section, row.title, join_as_learner(connection, section, actor, Source.CODE))


def _set_archived(connection: Connection, section: SectionId, is_archived: bool, actor: Actor) -> None:
    this = (sections.c.id == section) & (
        sections.c.archived_at.is_(None) if is_archived else sections.c.archived_at.is_not(None)
    )
    at = actor.at.timestamp() if is_archived else None
    if change(connection, update(sections).where(this).values(archived_at=at)):
        verb = "archive a section" if is_archived else "open an archived section"
        write_line(connection, actor, verb, section, section=section)
