"""The end of what a section knows about people: an account that was a learner's leaves outcomes without a name.

What stays is whether something was right, what credit it earned, and when, under a new learner whom nothing leads to.
Names, code, drafts, notes and typed text go with the account.
"""

import json
import secrets
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection, Row, Table, and_, delete, exists, insert, literal, or_, select, update

from app.access.permissions import Role
from app.storage.audit import Actor, write_line
from app.storage.forgetting import forget
from app.storage.records import SectionId
from app.storage.statements import fetch, moment
from app.storage.tables import (
    INVITED,
    accounts,
    allowances,
    answers,
    assignments,
    cell_runs,
    comments,
    hints,
    learners,
    lti_contexts,
    lti_members,
    lti_scores,
    memberships,
    overrides,
    predictions,
    readings,
    regrade_items,
    regrades,
    roster,
    sections,
    threads,
)
from graders.contract.model import LearnerId
from graders.ledger.finish import copy_outcomes

KEPT = (predictions, readings, hints)
"""Tables whose rows stay as they are: they have no text of the learner's."""
ERASED_AT_ONCE = 20
"""Accounts erased per transaction, so that other writers do not wait long."""

was_learner = and_(memberships.c.role == Role.LEARNER.value, memberships.c.status != INVITED)


def erase(connection: Connection, account: str, actor: Actor) -> bool:
    """Delete an account; the outcomes of one that is or was a learner in a section stay, without a name."""
    row = connection.execute(select(accounts.c.learner).where(accounts.c.id == account)).one_or_none()
    if row is None:
        return False
    theirs = (memberships.c.account == account) & was_learner
    stays = bool(fetch(connection, select(memberships.c.section).where(theirs)))
    if stays:
        _keep_outcomes(connection, LearnerId(row.learner), actor.at)
    forget(connection, LearnerId(row.learner))
    after = "outcomes stay without a name" if stays else None
    write_line(connection, actor, "erase an account", account, after=after)
    return True


def _keep_outcomes(connection: Connection, old: LearnerId, now: datetime) -> None:
    new = LearnerId(secrets.token_hex(16))
    connection.execute(insert(learners).values(id=new, created_at=now.timestamp(), is_nameless=True))
    for table in KEPT:
        columns = [literal(new).label("learner") if column.name == "learner" else column for column in table.c]
        source = select(*columns).where(table.c.learner == old)
        connection.execute(insert(table).from_select([column.name for column in table.c], source))
    for row in _rows(connection, answers, old):
        response = json.dumps({**json.loads(row["response"]), "text": ""})
        kept = {name: value for name, value in row.items() if name != "number"}
        connection.execute(insert(answers).values(**{**kept, "learner": new, "response": response}))
    for row in _rows(connection, cell_runs, old):
        connection.execute(insert(cell_runs).values(**{**row, "learner": new, "id": secrets.token_hex(16)}))
    copy_outcomes(connection, old, new)


def _rows(connection: Connection, table: Table, learner: LearnerId) -> list[dict[str, Any]]:
    rows = connection.execute(select(table).where(table.c.learner == learner)).mappings()
    return [dict(row) for row in rows]


def empty_ended_sections(connection: Connection, now: datetime, months: int) -> int:
    """Take the people out of the sections that ended so many months ago; returns out of how many.

    The accounts of learners who closed theirs are erased, unless a section that goes on needs their work. An account
    that is open stays: its person still learns here.
    """
    people = exists().where(memberships.c.section == sections.c.id, was_learner)
    lines = exists().where(roster.c.section == sections.c.id)
    rows = fetch(connection, select(sections).where(or_(people, lines)))
    over = [row for row in rows if _is_over(row, now, months)]
    actor, left = Actor(None, now), ERASED_AT_ONCE
    emptied = 0
    for row in over:
        section = SectionId(row.id)
        closed = _find_closed(connection, section, [one.id for one in over])
        for account in closed[:left]:
            erase(connection, account, actor)
        left -= min(left, len(closed))
        if left == 0:
            break
        _empty(connection, section, actor)
        emptied += 1
    return emptied


def _is_over(row: Row[Any], now: datetime, months: int) -> bool:
    """A section that has no last day ends when it is archived."""
    archived_on = None if row.archived_at is None else moment(row.archived_at).date()
    ends_on = date.fromisoformat(row.ends_on) if row.ends_on else archived_on
    return ends_on is not None and _add_months(ends_on, months) <= now.date()


def _add_months(day: date, months: int) -> date:
    years, month = divmod(day.month - 1 + months, 12)
    return date(day.year + years, month + 1, min(day.day, 28))


def _find_closed(connection: Connection, section: SectionId, over: list[str]) -> list[str]:
    """The closed accounts of learners of this section that are in no section but those that are over."""
    elsewhere = select(memberships.c.account).where(
        memberships.c.section.not_in(over), memberships.c.status != INVITED
    )
    query = select(accounts.c.id).join(memberships, memberships.c.account == accounts.c.id)
    query = query.where(memberships.c.section == section, was_learner, accounts.c.closed_at.is_not(None))
    return [row.id for row in fetch(connection, query.where(accounts.c.id.not_in(elsewhere)))]


def _empty(connection: Connection, section: SectionId, actor: Actor) -> None:
    """What names people goes; the section, its assignments and its staff stay, archived."""
    assigned = select(assignments.c.id).where(assignments.c.section == section)
    courses = select(lti_contexts.c.id).where(lti_contexts.c.section == section)
    for table in (roster, comments, threads):
        connection.execute(delete(table).where(table.c.section == section))
    for table in (allowances, overrides, lti_scores):
        connection.execute(delete(table).where(table.c.assignment.in_(assigned)))
    again = select(regrades.c.number).where(regrades.c.assignment.in_(assigned))
    connection.execute(delete(regrade_items).where(regrade_items.c.regrade.in_(again)))
    connection.execute(delete(lti_members).where(lti_members.c.context.in_(courses)))
    learner = memberships.c.role == Role.LEARNER.value
    connection.execute(delete(memberships).where(memberships.c.section == section, learner))
    open_ = (sections.c.id == section) & sections.c.archived_at.is_(None)
    archived = update(sections).where(open_).values(archived_at=actor.at.timestamp())
    connection.execute(archived)
    write_line(connection, actor, "take the people out of a section", section, section=section)
