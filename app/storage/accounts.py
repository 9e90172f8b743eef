"""Accounts: names and password hashes, one-time links, counted failures, and the work that an account takes over."""

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from app.access.names import key_of_name
from app.storage.audit import Actor, AuditFilter, read_lines, write_line
from app.storage.erasing import erase
from app.storage.memberships import read_memberships
from app.storage.merging import count_work, merge
from app.storage.records import Account, AccountId, AccountLine, AuditLine, Session, Work
from app.storage.sessions import end_links, end_sessions
from app.storage.statements import change, fetch, insert_into, insert_new, moment, optional_moment
from app.storage.tables import (
    accounts,
    calendars,
    credentials,
    identities,
    learners,
    one_time_links,
    sessions,
    sign_in_failures,
)
from graders.contract.model import LearnerId
from graders.ledger.database import Database

IdentityKey = tuple[str, str]
"""Issuer and subject."""

PASSWORD = "password"
LINK_LASTS = timedelta(hours=24)
NOTHING = Work(0, 0, 0)


@dataclass(frozen=True)
class KnownPassword:
    """An account and the hash of its password."""

    account: Account
    secret: str


class Accounts:
    """Reads and writes accounts. Each method is one transaction, or one read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self,
        name: str,
        secret: str | None,
        actor: Actor,
        *,
        is_operator: bool = False,
        terms_digest: str | None = None,
    ) -> Account | None:
        """A new account with a new learner. None if the name is taken. Without `secret`, a link sets its password."""
        return await self._database.write(_create, name, secret, actor, is_operator, terms_digest)

    async def find(self, account: AccountId) -> Account | None:
        """An account that is not closed."""
        return await self._database.read(_find, account)

    async def find_by_name(self, name: str) -> Account | None:
        query = select(accounts).where(accounts.c.name_key == key_of_name(name), accounts.c.closed_at.is_(None))
        return next((as_account(row) for row in await self._database.read(fetch, query)), None)

    async def find_password(self, name: str) -> KnownPassword | None:
        """The password of the open account with this name."""
        is_theirs = (accounts.c.name_key == key_of_name(name)) & accounts.c.closed_at.is_(None)
        query = select(accounts, credentials.c.secret).join_from(credentials, accounts)
        rows = await self._database.read(fetch, query.where(is_theirs, credentials.c.kind == PASSWORD))
        return next((KnownPassword(as_account(row), row.secret) for row in rows), None)

    async def set_password(self, account: AccountId, secret: str, now: datetime) -> None:
        await self._database.write(_set_password, account, secret, now)

    async def change_password(self, account: AccountId, secret: str, now: datetime) -> None:
        """The password that its person chose. One-time links made earlier set none any more."""
        await self._database.write(_change_password, account, secret, now)

    async def count_failures(self, keys: Sequence[str], since: datetime) -> dict[str, int]:
        """Failed sign-ins by key."""
        mine = sign_in_failures.c.key.in_(keys) & (sign_in_failures.c.at > since.timestamp())
        query = select(sign_in_failures.c.key, func.count().label("failures")).where(mine)
        rows = await self._database.read(fetch, query.group_by(sign_in_failures.c.key))
        return {row.key: row.failures for row in rows}

    async def note_failure(self, keys: Sequence[str], now: datetime) -> None:
        rows = [{"key": key, "at": now.timestamp()} for key in keys]
        await self._database.write(lambda connection: connection.execute(insert(sign_in_failures), rows))

    async def agree_to_terms(self, account: AccountId, digest: str) -> None:
        agreed = update(accounts).where(accounts.c.id == account).values(terms_digest=digest)
        await self._database.write(change, agreed)

    async def make_link(self, account: AccountId, token_hash: str, expires_at: datetime, actor: Actor) -> bool:
        """Keep a link that sets this account's password, in place of an earlier one. False: no such account."""
        return await self._database.write(make_link, account, token_hash, expires_at, actor)

    async def find_link(self, token_hash: str, now: datetime) -> Account | None:
        """Whose password this link sets. None if it is unknown, used or expired."""
        alive = (one_time_links.c.token_hash == token_hash) & (one_time_links.c.expires_at > now.timestamp())
        query = select(accounts).join(one_time_links, one_time_links.c.account == accounts.c.id)
        rows = await self._database.read(fetch, query.where(alive, accounts.c.closed_at.is_(None)))
        return next((as_account(row) for row in rows), None)

    async def use_link(
        self, token_hash: str, secret: str, actor: Actor, kept: Collection[IdentityKey] = ()
    ) -> Account | None:
        """Set the password, and end all sessions of the account and every identity that is not `kept`.

        None if the link is unknown, used or expired.
        """
        return await self._database.write(_use_link, token_hash, secret, actor, frozenset(kept))

    async def count_work(self, learner: LearnerId) -> Work:
        return await self._database.read(count_work, learner)

    async def claim_work(self, session: Session) -> Work:
        """Move the work that this browser had before to the session's account. Returns what was moved."""
        return await self._database.write(_claim_work, session)

    async def set_operator(self, account: AccountId, is_operator: bool, actor: Actor) -> None:
        """Give or take the operator's role. It ends all sessions and one-time links of the account."""
        await self._database.write(_set_operator, account, is_operator, actor)

    async def close(self, account: AccountId, actor: Actor) -> None:
        """End every way in, the calendar's address too, and keep the work: it may be part of a school's record."""
        await self._database.write(_close, account, actor)

    async def erase(self, account: AccountId, actor: Actor) -> bool:
        """Delete the account and its work, or see erasing.py for a section's learner. False if there is none."""
        return await self._database.write(erase, account, actor)

    async def everyone(self) -> tuple[AccountLine, ...]:
        """All accounts, by name, for the operator."""
        return await self._database.read(_read_everyone)

    async def audit_lines(self) -> tuple[AuditLine, ...]:
        return await self._database.read(read_lines, AuditFilter())


def as_account(row: Row[Any]) -> Account:
    made_at = moment(row.made_at)
    return Account(AccountId(row.id), LearnerId(row.learner), row.name, row.is_operator, made_at, row.terms_digest)


def insert_account(connection: Connection, name: str, now: datetime, **more: Any) -> Account | None:
    """A new account with a new learner; None if another has this `name_key`."""
    account, learner = AccountId(secrets.token_hex(16)), LearnerId(secrets.token_hex(16))
    insert_new(connection, learners, {"id": learner, "created_at": now.timestamp()})
    row = {"id": account, "learner": learner, "name": name, "made_at": now.timestamp(), **more}
    if not insert_new(connection, accounts, row):
        connection.execute(delete(learners).where(learners.c.id == learner))
        return None
    return _find(connection, account)


def make_link(
    connection: Connection, account: AccountId, token_hash: str, expires_at: datetime, actor: Actor
) -> bool:
    if _find(connection, account) is None:
        return False
    connection.execute(delete(one_time_links).where(one_time_links.c.account == account))
    times = {"made_at": actor.at.timestamp(), "expires_at": expires_at.timestamp()}
    connection.execute(insert(one_time_links).values(token_hash=token_hash, account=account, **times))
    write_line(connection, actor, "make a one-time link", account)
    return True


def _find(connection: Connection, account: AccountId) -> Account | None:
    query = select(accounts).where(accounts.c.id == account, accounts.c.closed_at.is_(None))
    return next((as_account(row) for row in fetch(connection, query)), None)


def _create(
    connection: Connection, name: str, secret: str | None, actor: Actor, is_operator: bool, terms_digest: str | None
) -> Account | None:
    more = {"name_key": key_of_name(name), "is_operator": is_operator, "terms_digest": terms_digest}
    account = insert_account(connection, name, actor.at, **more)
    if account is None:
        return None
    if secret is not None:
        _set_password(connection, account.id, secret, actor.at)
    if secret is None or is_operator:
        write_line(connection, actor, "make an account", account.id, after="operator" if is_operator else None)
    return account


def _set_password(connection: Connection, account: AccountId, secret: str, now: datetime) -> None:
    row = {"account": account, "kind": PASSWORD, "secret": secret, "changed_at": now.timestamp()}
    statement = insert_into(connection, credentials).values(row)
    changed = {"secret": secret, "changed_at": now.timestamp()}
    connection.execute(statement.on_conflict_do_update(index_elements=["account", "kind"], set_=changed))


def _change_password(connection: Connection, account: AccountId, secret: str, now: datetime) -> None:
    _set_password(connection, account, secret, now)
    end_links(connection, account)


def _use_link(
    connection: Connection, token_hash: str, secret: str, actor: Actor, kept: frozenset[IdentityKey]
) -> Account | None:
    alive = (one_time_links.c.token_hash == token_hash) & (one_time_links.c.expires_at > actor.at.timestamp())
    taken = connection.execute(delete(one_time_links).where(alive).returning(one_time_links.c.account)).one_or_none()
    account = None if taken is None else _find(connection, AccountId(taken.account))
    if account is None:
        return None
    _set_password(connection, account.id, secret, actor.at)
    end_sessions(connection, account.id)
    themselves = Actor(account.id, actor.at, actor.address_hash)
    _unlink_others(connection, themselves, account.id, kept)
    write_line(connection, themselves, "use a one-time link", account.id)
    return account


def _unlink_others(connection: Connection, actor: Actor, account: AccountId, kept: frozenset[IdentityKey]) -> None:
    """Whoever had the old password may have linked an identity of their own, which would outlive the new one."""
    theirs = identities.c.account == account
    for row in fetch(connection, select(identities.c.issuer, identities.c.subject).where(theirs)):
        if (row.issuer, row.subject) not in kept:
            this = theirs & (identities.c.issuer == row.issuer) & (identities.c.subject == row.subject)
            connection.execute(delete(identities).where(this))
            write_line(connection, actor, "unlink an identity", account, before=row.issuer)


def _claim_work(connection: Connection, session: Session) -> Work:
    # Asked again inside the transaction, because a form sent twice must find nothing the second time.
    query = select(sessions.c.unclaimed, sessions.c.learner).where(sessions.c.token_hash == session.token_hash)
    row = connection.execute(query).one_or_none()
    if row is None or row.unclaimed is None:
        return NOTHING
    return merge(connection, LearnerId(row.unclaimed), LearnerId(row.learner))


def _set_operator(connection: Connection, account: AccountId, is_operator: bool, actor: Actor) -> None:
    connection.execute(update(accounts).where(accounts.c.id == account).values(is_operator=is_operator))
    end_sessions(connection, account)
    write_line(connection, actor, "set the operator's role", account, after="operator" if is_operator else "none")


def _close(connection: Connection, account: AccountId, actor: Actor) -> None:
    connection.execute(update(accounts).where(accounts.c.id == account).values(closed_at=actor.at.timestamp()))
    connection.execute(delete(credentials).where(credentials.c.account == account))
    # Nobody can sign in to end the calendar's address, which its readers need no session for.
    whose = select(accounts.c.learner).where(accounts.c.id == account)
    connection.execute(delete(calendars).where(calendars.c.learner.in_(whose)))
    end_sessions(connection, account)
    write_line(connection, actor, "close an account", account)


def _read_everyone(connection: Connection) -> tuple[AccountLine, ...]:
    roles = read_memberships(connection)
    seen_at = func.max(sessions.c.seen_at).label("seen_at")
    query = select(accounts, seen_at).join_from(accounts, sessions, sessions.c.account == accounts.c.id, isouter=True)
    rows = fetch(connection, query.group_by(accounts.c.id).order_by(accounts.c.name_key, accounts.c.name))
    return tuple(
        AccountLine(
            as_account(row),
            optional_moment(row.seen_at),
            row.closed_at is not None,
            tuple(membership for membership in roles if membership.account == row.id),
        )
        for row in rows
    )
