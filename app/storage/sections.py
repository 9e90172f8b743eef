"""Sections of people: who is in which, as what. A role gives rights only after its person has accepted it."""

import secrets

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from app.access.names import key_of_name
from app.access.permissions import Role
from app.storage.audit import Actor, write_line
from app.storage.records import AccountId, Membership, Section, SectionId
from app.storage.sessions import end_links, end_sessions
from app.storage.statements import change, fetch, insert_new
from app.storage.tables import ACTIVE, INVITED, accounts, memberships, sections
from graders.ledger.database import Database

RANK = {Role.LEARNER: 0, Role.ASSISTANT: 1, Role.INSTRUCTOR: 2}


class Sections:
    """Reads and writes sections. Each method is one transaction, or one read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def make(self, title: str, actor: Actor) -> SectionId:
        return await self._database.write(_make, title, actor)

    async def all(self) -> tuple[Section, ...]:
        """Every section, by title."""
        rows = await self._database.read(fetch, select(sections).order_by(sections.c.title, sections.c.id))
        return tuple(Section(SectionId(row.id), row.title) for row in rows)

    async def of_account(self, account: AccountId) -> tuple[Membership, ...]:
        """What the account is, or is invited to be, in each section."""
        return await self._database.read(read_memberships, memberships.c.account == account)

    async def people(self, section: SectionId) -> tuple[Membership, ...]:
        return await self._database.read(read_memberships, memberships.c.section == section)

    async def find_role(self, section: SectionId, account: AccountId) -> Membership | None:
        """The account's active role in this section."""
        mine = (memberships.c.section == section) & (memberships.c.account == account)
        found = await self._database.read(read_memberships, mine & (memberships.c.status == ACTIVE))
        return found[0] if found else None

    async def invite(self, section: SectionId, name: str, role: Role, actor: Actor) -> bool:
        """Offer a role to the account with this name, or raise a member's. False if nobody has the name.

        A lower role is an offer again.
        """
        return await self._database.write(_invite, section, name, role, actor)

    async def accept(self, section: SectionId, actor: Actor) -> bool:
        """The actor takes the role that was offered to them. False if there is no such offer."""
        return await self._database.write(_accept, section, actor)

    async def leave(self, section: SectionId, account: AccountId, actor: Actor) -> bool:
        """End a membership or take back an offer. False if there is none."""
        return await self._database.write(_leave, section, account, actor)

    async def may_reset(self, section: SectionId, account: AccountId) -> bool:
        """Whether staff of this section may make a link for the account: an active learner, and staff nowhere."""
        return await self._database.read(_may_reset, section, account)


def read_memberships(connection: Connection, *conditions: ColumnElement[bool]) -> tuple[Membership, ...]:
    columns = (memberships, sections.c.title, accounts.c.name)
    query = select(*columns).join_from(memberships, sections).join(accounts, accounts.c.id == memberships.c.account)
    rows = fetch(connection, query.where(*conditions).order_by(sections.c.title, memberships.c.role, accounts.c.name))
    return tuple(
        Membership(
            SectionId(row.section), row.title, AccountId(row.account), row.name, Role(row.role), row.status == ACTIVE
        )
        for row in rows
    )


def _make(connection: Connection, title: str, actor: Actor) -> SectionId:
    section = SectionId(secrets.token_hex(16))
    connection.execute(insert(sections).values(id=section, title=title, made_at=actor.at.timestamp()))
    write_line(connection, actor, "make a section", section, section=section, after=title)
    return section


def _key(section: SectionId, account: AccountId) -> ColumnElement[bool]:
    return (memberships.c.section == section) & (memberships.c.account == account)


def _invite(connection: Connection, section: SectionId, name: str, role: Role, actor: Actor) -> bool:
    is_theirs = (accounts.c.name_key == key_of_name(name)) & accounts.c.closed_at.is_(None)
    found = fetch(connection, select(accounts.c.id).where(is_theirs))
    if not found:
        return False
    account = AccountId(found[0].id)
    before = read_memberships(connection, _key(section, account))
    row = {"section": section, "account": account, "role": role.value, "status": INVITED}
    if not insert_new(connection, memberships, {**row, "added_at": actor.at.timestamp()}):
        lower = RANK[role] < RANK[before[0].role]
        # Instructors may reset a learner's password, which an assistant has not agreed to.
        status = ACTIVE if before[0].is_active and not lower else INVITED
        change(connection, update(memberships).where(_key(section, account)).values(role=role.value, status=status))
        if before[0].is_active and RANK[role] > RANK[before[0].role]:
            end_sessions(connection, account)
    was = before[0].role.value if before else None
    write_line(connection, actor, "offer or change a role", account, section=section, before=was, after=role.value)
    return True


def _accept(connection: Connection, section: SectionId, actor: Actor) -> bool:
    assert actor.account is not None
    offered = _key(section, actor.account) & (memberships.c.status == INVITED)
    accepted = change(connection, update(memberships).where(offered).values(status=ACTIVE)) == 1
    if accepted:
        end_links(connection, actor.account)
        write_line(connection, actor, "accept a role", actor.account, section=section)
    return accepted


def _leave(connection: Connection, section: SectionId, account: AccountId, actor: Actor) -> bool:
    before = read_memberships(connection, _key(section, account))
    if not before:
        return False
    connection.execute(delete(memberships).where(_key(section, account)))
    write_line(connection, actor, "end a role", account, section=section, before=before[0].role.value)
    return True


def _may_reset(connection: Connection, section: SectionId, account: AccountId) -> bool:
    roles = read_memberships(connection, memberships.c.account == account)
    is_learner_here = any(one.section == section and one.is_active and one.role is Role.LEARNER for one in roles)
    is_staff = any(one.is_staff for one in roles)
    query = select(accounts.c.is_operator).where(accounts.c.id == account)
    is_operator = any(row.is_operator for row in fetch(connection, query))
    return is_learner_here and not is_staff and not is_operator
