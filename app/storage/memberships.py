"""Who is in a section, as what. A role gives rights only while its person is in the section and has accepted it."""

from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from app.access.names import key_of_name
from app.access.permissions import SECTION_STAFF, Role
from app.storage.audit import Actor, write_line
from app.storage.records import AccountId, Membership, SectionId, Status
from app.storage.sessions import end_links, end_sessions
from app.storage.statements import change, fetch, insert_new
from app.storage.tables import accounts, memberships, roster, sections

RANK = {Role.LEARNER: 0, Role.ASSISTANT: 1, Role.INSTRUCTOR: 2}


class Source(StrEnum):
    """Where a membership comes from. One of an LTI context has the context's id instead."""

    PERSON = "person"
    CSV = "csv"
    CODE = "code"


class Joining(StrEnum):
    """What became of somebody's wish to join a section as a learner."""

    JOINED = "joined"
    IS_MEMBER = "is a member already"
    HAS_OFFER = "has the offer of another role"
    WAS_DROPPED = "was dropped by the section's staff"
    IS_STAFF = "is of the section's staff"
    HAS_LINE = "is another person of the roster"


@dataclass(frozen=True)
class Joined:
    section: SectionId
    title: str
    outcome: Joining


def read_memberships(connection: Connection, *conditions: ColumnElement[bool]) -> tuple[Membership, ...]:
    columns = (memberships, sections.c.title, sections.c.archived_at, accounts.c.name)
    query = select(*columns).join_from(memberships, sections).join(accounts, accounts.c.id == memberships.c.account)
    rows = fetch(connection, query.where(*conditions).order_by(sections.c.title, memberships.c.role, accounts.c.name))
    return tuple(
        Membership(
            section=SectionId(row.section),
            title=row.title,
            account=AccountId(row.account),
            name=row.name,
            role=Role(row.role),
            status=Status(row.status),
            is_archived=row.archived_at is not None,
        )
        for row in rows
    )


def is_key(section: SectionId, account: AccountId) -> ColumnElement[bool]:
    return (memberships.c.section == section) & (memberships.c.account == account)


def find_membership(connection: Connection, section: SectionId, account: AccountId) -> Membership | None:
    return next(iter(read_memberships(connection, is_key(section, account))), None)


def add_member(
    connection: Connection, section: SectionId, account: AccountId, role: Role, actor: Actor, source: str
) -> None:
    """A membership that is active from the start, because its person asked for it."""
    row = {"section": section, "account": account, "role": role.value, "status": Status.ACTIVE.value}
    connection.execute(insert(memberships).values(**row, source=source, added_at=actor.at.timestamp()))


def invite(connection: Connection, section: SectionId, name: str, role: Role, actor: Actor) -> bool:
    is_theirs = (accounts.c.name_key == key_of_name(name)) & accounts.c.closed_at.is_(None)
    found = fetch(connection, select(accounts.c.id).where(is_theirs))
    if not found:
        return False
    account = AccountId(found[0].id)
    before = find_membership(connection, section, account)
    if before is None:
        row = {"section": section, "account": account, "role": role.value, "status": Status.INVITED.value}
        insert_new(connection, memberships, {**row, "added_at": actor.at.timestamp()})
    else:
        _change_role(connection, before, role)
    was = before.role.value if before else None
    write_line(connection, actor, "offer or change a role", account, section=section, before=was, after=role.value)
    return True


def _change_role(connection: Connection, before: Membership, role: Role) -> None:
    # Instructors may reset a learner's password, which an assistant has not agreed to.
    is_lower = RANK[role] < RANK[before.role]
    status = Status.ACTIVE if before.is_active and not is_lower else Status.INVITED
    # A person gave this role, whatever brought its holder here, so no launch from a platform changes it any more.
    given = {"source": Source.PERSON.value} if role is not before.role else {}
    _set_status(connection, before.section, before.account, status, role=role.value, dropped_at=None, **given)
    if before.is_active and RANK[role] > RANK[before.role]:
        end_sessions(connection, before.account)


def accept(connection: Connection, section: SectionId, actor: Actor) -> bool:
    assert actor.account is not None
    offer = find_membership(connection, section, actor.account)
    if offer is None or offer.status is not Status.INVITED or offer.is_archived:
        return False
    _set_status(connection, section, actor.account, Status.ACTIVE)
    end_links(connection, actor.account)
    write_line(connection, actor, "accept a role", actor.account, section=section)
    return True


def leave(connection: Connection, section: SectionId, actor: Actor) -> bool:
    """The actor declines an offer, or leaves."""
    assert actor.account is not None
    mine = find_membership(connection, section, actor.account)
    if mine is None or mine.is_archived:
        return False
    return _end(connection, mine, Status.LEFT, "leave a section", actor)


def drop(connection: Connection, section: SectionId, account: AccountId, actor: Actor) -> bool:
    """The section's staff take somebody out, or take back an offer."""
    before = find_membership(connection, section, account)
    return before is not None and _end(connection, before, Status.DROPPED, "drop a person", actor)


def _end(connection: Connection, before: Membership, status: Status, verb: str, actor: Actor) -> bool:
    if before.status is Status.INVITED:
        connection.execute(delete(memberships).where(is_key(before.section, before.account)))
        verb = "take back or decline an offer"
    elif before.is_active:
        at = actor.at.timestamp()
        _set_status(connection, before.section, before.account, status, dropped_at=at)
        _set_roster(connection, before.section, before.account, at)
    else:
        return False
    write_line(connection, actor, verb, before.account, section=before.section, before=before.role.value)
    return True


def take_back(connection: Connection, section: SectionId, account: AccountId, actor: Actor) -> Status | None:
    """Whom the staff dropped is in again; who left by themselves gets an offer. None if the person is neither."""
    before = find_membership(connection, section, account)
    if before is None or before.status not in (Status.DROPPED, Status.LEFT):
        return None
    status = Status.ACTIVE if before.status is Status.DROPPED else Status.INVITED
    _set_status(connection, section, account, status, dropped_at=None)
    _set_roster(connection, section, account, None)
    if before.role in SECTION_STAFF:
        # Somebody who could reset them meanwhile as a learner of theirs must not enter the staff that they are again.
        end_sessions(connection, account)
    write_line(connection, actor, "take a person back", account, section=section, after=status.value)
    return status


def join_as_learner(connection: Connection, section: SectionId, actor: Actor, source: str) -> Joining:
    """Make the actor a learner, because they asked for it with a code or link of the section."""
    assert actor.account is not None
    before = find_membership(connection, section, actor.account)
    if before is not None and before.is_active:
        return Joining.IS_MEMBER
    if before is not None and before.status is Status.DROPPED:
        return Joining.WAS_DROPPED
    if before is not None and before.role is not Role.LEARNER and before.status is Status.INVITED:
        return Joining.HAS_OFFER
    if before is None:
        add_member(connection, section, actor.account, Role.LEARNER, actor, source)
    else:
        _set_status(connection, section, actor.account, Status.ACTIVE, role=Role.LEARNER.value, dropped_at=None)
        _set_roster(connection, section, actor.account, None)
    write_line(connection, actor, "join a section", actor.account, section=section, after=source)
    return Joining.JOINED


def list_resettable(connection: Connection, section: SectionId) -> frozenset[AccountId]:
    staff_roles = [role.value for role in SECTION_STAFF]
    staff = select(memberships.c.account).where(
        memberships.c.status == Status.ACTIVE.value, memberships.c.role.in_(staff_roles)
    )
    query = select(memberships.c.account).join(accounts, accounts.c.id == memberships.c.account)
    learners = (memberships.c.section == section) & (memberships.c.role == Role.LEARNER.value)
    learners &= (memberships.c.status == Status.ACTIVE.value) & accounts.c.is_operator.is_(False)
    rows = fetch(connection, query.where(learners, memberships.c.account.not_in(staff)))
    return frozenset(AccountId(row.account) for row in rows)


def _set_status(
    connection: Connection, section: SectionId, account: AccountId, status: Status, **more: str | float | None
) -> None:
    changed = update(memberships).where(is_key(section, account)).values(status=status.value, **more)
    change(connection, changed)


def _set_roster(connection: Connection, section: SectionId, account: AccountId, dropped_at: float | None) -> None:
    """The line by which the school names the person says the same."""
    theirs = (roster.c.section == section) & (roster.c.account == account)
    change(connection, update(roster).where(theirs).values(dropped_at=dropped_at))
