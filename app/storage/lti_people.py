"""People who come from a course at a learning platform: their membership of its section, and their roster line.

A launch never changes a role that a person gave here, and takes nobody back whom the section's staff dropped.
"""

import json
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, insert, select, update

from app.access.permissions import Role
from app.storage.audit import Actor, write_line
from app.storage.lti_scores import send_grades_again
from app.storage.records import AccountId, SectionId
from app.storage.sessions import end_links
from app.storage.statements import fetch, insert_new, moment
from app.storage.tables import ACTIVE, DROPPED, INVITED, lti_contexts, lti_members, memberships, roster

KEPT_OUT = "The instructor of this section has taken you out of it. You can read; ask them if that is a mistake."


@dataclass(frozen=True)
class Member:
    """Somebody in a course at a platform. `subject` is the platform's id of them; the names may be empty."""

    account: AccountId
    subject: str
    role: Role
    at: datetime
    name: str = ""
    email: str = ""
    student_number: str = ""


def keep_member(connection: Connection, course: str, member: Member) -> bool:
    """Note that somebody came from a course; returns whether they had come before.

    Whom the platform has under another id now gets their grades there once more.
    """
    values = {"subject": member.subject, "role": member.role.value, "launched_at": member.at.timestamp()}
    this = (lti_members.c.context == course) & (lti_members.c.account == member.account)
    before = connection.execute(select(lti_members.c.subject).where(this)).scalar_one_or_none()
    if before != member.subject:
        send_grades_again(connection, {"context": course, "account": member.account}, member.at)
    if before is not None:
        connection.execute(update(lti_members).where(this).values(values))
        return True
    connection.execute(insert(lti_members).values(context=course, account=member.account, **values))
    return False


def read_members(connection: Connection, which: ColumnElement[bool]) -> tuple[Member, ...]:
    rows = fetch(connection, select(lti_members).where(which).order_by(lti_members.c.account))
    return tuple(Member(AccountId(row.account), row.subject, Role(row.role), moment(row.launched_at)) for row in rows)


def enter_section(
    connection: Connection, section: SectionId, course: str, member: Member, actor: Actor, *, was_known: bool
) -> str:
    """Make somebody a member of the section by their role in the course. Returns why not, in words, or nothing.

    `was_known`: the platform had named them before, so that only the section's staff can have dropped them.
    """
    mine = (memberships.c.section == section) & (memberships.c.account == member.account)
    before = connection.execute(select(memberships).where(mine)).one_or_none()
    if before is not None and before.status == DROPPED and (was_known or before.source != course):
        return KEPT_OUT
    after = _find_role(before, course, member.role)
    if before is None:
        row = {"section": section, "account": member.account, "role": after.value, "status": ACTIVE}
        connection.execute(insert(memberships).values(**row, source=course, added_at=member.at.timestamp()))
    else:
        changed: dict[str, Any] = {"role": after.value, "status": ACTIVE, "dropped_at": None}
        connection.execute(update(memberships).where(mine).values(changed))
    if before is None or before.role != after.value or before.status != ACTIVE:
        # A one-time link made for a learner must not open the staff that they became.
        end_links(connection, member.account)
        was = None if before is None else before.role
        write_line(connection, actor, "come by a platform", member.account, section=section, before=was, after=after)
    keep_roster_line(connection, section, course, member)
    return ""


def _find_role(before: Row[Any] | None, course: str, role: Role) -> Role:
    """The platform's role where the platform gave it; one that a person gave or offered here stays."""
    if before is None or before.source == course or before.status not in (ACTIVE, INVITED):
        return role
    return Role(before.role)


def keep_roster_line(connection: Connection, section: SectionId, course: str, member: Member) -> None:
    """The line by which the school names this person: theirs, one with the platform's id or number, or a new one."""
    registration = connection.execute(
        select(lti_contexts.c.registration).where(lti_contexts.c.id == course)
    ).scalar_one()
    row = find_roster_line(connection, section, registration, member)
    ids = {**(json.loads(row.platform_ids) if row else {}), registration: member.subject}
    named = {"name": member.name[:120], "email": member.email[:254], "student_number": member.student_number[:64]}
    values: dict[str, Any] = {key: text for key, text in named.items() if text}
    values |= {"account": member.account, "platform_ids": json.dumps(ids), "dropped_at": None, "token_hash": None}
    if row is not None:
        connection.execute(update(roster).where(roster.c.id == row.id).values(values))
    elif member.name and member.role is Role.LEARNER:
        added = {"id": secrets.token_hex(16), "section": section, "source": course, **values}
        insert_new(connection, roster, {**added, "added_at": member.at.timestamp()})


def find_roster_line(
    connection: Connection, section: SectionId, registration: str, member: Member
) -> Row[Any] | None:
    """The person's line. Never found by a name or an address of mail, which two people may share."""
    lines = fetch(connection, select(roster).where(roster.c.section == section))
    for line in lines:
        if line.account == member.account:
            return line
    free = [line for line in lines if line.account is None]
    for line in free:
        if json.loads(line.platform_ids).get(registration) == member.subject:
            return line
    if not member.student_number:
        return None
    numbered = [line for line in free if line.student_number == member.student_number]
    return numbered[0] if len(numbered) == 1 else None
