"""Courses at learning platforms: which section each is, and who came from it as what."""

import json
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, select, update

from app.linking.lti import Services
from app.storage.audit import Actor, write_line
from app.storage.lti_people import Member, enter_section, keep_member, read_members
from app.storage.records import AccountId, SectionId
from app.storage.statements import change, fetch, insert_new, optional_moment
from app.storage.tables import ACTIVE, lti_contexts, lti_members, lti_registrations, memberships, sections
from graders.ledger.database import Database


@dataclass(frozen=True)
class LtiCourse:
    """A course at a platform. `section` is None until one of its instructors says which section it is."""

    id: str
    registration: str
    platform: str
    title: str
    section: SectionId | None
    memberships_url: str
    lineitems_url: str
    scopes: tuple[str, ...]
    synced_at: datetime | None


class LtiCourses:
    """Reads and writes courses of platforms. Each method is one transaction, or one read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def note(
        self, registration: str, deployment: str, course: str, title: str, services: Services
    ) -> LtiCourse:
        """The course that a launch names, with what is new. An address that the launch does not name stays."""
        return await self._database.write(_note, registration, deployment, course, title, services)

    async def find(self, course: str) -> LtiCourse | None:
        rows = await self._database.read(fetch, _select_courses().where(lti_contexts.c.id == course))
        return next((_as_course(row) for row in rows), None)

    async def of_section(self, section: SectionId) -> tuple[LtiCourse, ...]:
        """The courses that are this section, by title."""
        query = _select_courses().where(lti_contexts.c.section == section).order_by(lti_contexts.c.title)
        return tuple(_as_course(row) for row in await self._database.read(fetch, query))

    async def linked(self) -> tuple[LtiCourse, ...]:
        """The courses that are a section and whose platform is open."""
        query = _select_courses().where(lti_contexts.c.section.is_not(None), lti_registrations.c.is_open)
        return tuple(_as_course(row) for row in await self._database.read(fetch, query))

    async def enter(self, course: str, member: Member, actor: Actor) -> str:
        """Note who came, and make them a member of the course's section. Returns why not, in words, or nothing.

        An archived section gets no new members.
        """
        return await self._database.write(_enter, course, member, actor)

    async def find_member(self, course: str, account: AccountId) -> Member | None:
        found = await self._database.read(
            read_members, (lti_members.c.context == course) & (lti_members.c.account == account)
        )
        return next(iter(found), None)

    async def link(self, course: str, section: SectionId, actor: Actor) -> bool:
        """Say which section a course is. False if one was said.

        Everybody who came from it is a member then, except who left the section, was dropped, or has an open offer.
        """
        return await self._database.write(_link, course, section, actor)

    async def unlink(self, course: str, section: SectionId, actor: Actor) -> bool:
        """Nobody becomes a member by this course any more, and no grade goes back. False if it is not linked so."""
        return await self._database.write(_unlink, course, section, actor)


def _select_courses() -> Any:
    name = lti_registrations.c.name.label("platform")
    return select(lti_contexts, name).join_from(lti_contexts, lti_registrations)


def _as_course(row: Row[Any]) -> LtiCourse:
    return LtiCourse(
        id=row.id,
        registration=row.registration,
        platform=row.platform,
        title=row.title,
        section=None if row.section is None else SectionId(row.section),
        memberships_url=row.memberships_url,
        lineitems_url=row.lineitems_url,
        scopes=tuple(json.loads(row.scopes)),
        synced_at=optional_moment(row.synced_at),
    )


def _note(
    connection: Connection, registration: str, deployment: str, course: str, title: str, services: Services
) -> LtiCourse:
    place = {"registration": registration, "deployment_id": deployment, "context_id": course}
    this: ColumnElement[bool] = lti_contexts.c.registration == registration
    this &= (lti_contexts.c.deployment_id == deployment) & (lti_contexts.c.context_id == course)
    empty = {"title": title, "memberships_url": "", "lineitems_url": "", "scopes": "[]"}
    insert_new(connection, lti_contexts, {"id": secrets.token_hex(16), **place, **empty})
    named = {
        "title": title,
        "memberships_url": services.memberships,
        "lineitems_url": services.lineitems,
        "scopes": json.dumps(services.scopes) if services.scopes else "",
    }
    if known := {column: value for column, value in named.items() if value}:
        connection.execute(update(lti_contexts).where(this).values(known))
    return _as_course(connection.execute(_select_courses().where(this)).one())


def _enter(connection: Connection, course: str, member: Member, actor: Actor) -> str:
    was_known = keep_member(connection, course, member)
    query = select(sections.c.id).join(lti_contexts, lti_contexts.c.section == sections.c.id)
    row = connection.execute(query.where(lti_contexts.c.id == course, sections.c.archived_at.is_(None))).one_or_none()
    if row is None:
        return ""
    return enter_section(connection, SectionId(row.id), course, member, actor, was_known=was_known)


def _link(connection: Connection, course: str, section: SectionId, actor: Actor) -> bool:
    free = (lti_contexts.c.id == course) & lti_contexts.c.section.is_(None)
    if not change(connection, update(lti_contexts).where(free).values(section=section)):
        return False
    write_line(connection, actor, "link a course of a platform", course, section=section)
    is_outside = (memberships.c.section == section) & (memberships.c.status != ACTIVE)
    outside = {row.account for row in fetch(connection, select(memberships.c.account).where(is_outside))}
    for member in read_members(connection, lti_members.c.context == course):
        # Who left, was dropped or has not answered an offer decides nothing by this: they come by themselves or not.
        if member.account not in outside:
            enter_section(connection, section, course, member, actor, was_known=True)
    return True


def _unlink(connection: Connection, course: str, section: SectionId, actor: Actor) -> bool:
    linked = (lti_contexts.c.id == course) & (lti_contexts.c.section == section)
    if not change(connection, update(lti_contexts).where(linked).values(section=None)):
        return False
    write_line(connection, actor, "unlink a course of a platform", course, section=section)
    return True
