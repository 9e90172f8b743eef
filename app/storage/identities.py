"""People at other sites who sign in here, and sign-ins that those sites are still to confirm."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any

from sqlalchemy import Connection, Select, delete, func, insert, select, update

from app.access.names import MAX_NAME_CHARACTERS, key_of_name
from app.storage.accounts import as_account, insert_account
from app.storage.audit import Actor, write_line
from app.storage.records import OIDC, Account, AccountId, Identity
from app.storage.statements import change, fetch, moment
from app.storage.tables import accounts, credentials, identities, sign_in_attempts
from graders.ledger.database import Database


@dataclass(frozen=True)
class Attempt:
    """A sign-in that was begun. The secrets are hashes, except those that the provider is to be shown."""

    state_hash: str
    provider: str
    browser_hash: str
    nonce: str
    verifier: str
    target: str
    account: AccountId | None
    """The account to which an identity is to be linked."""


class Identities:
    """Reads and writes identities and attempts. Each method is one transaction, or one read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep_attempt(self, attempt: Attempt, expires_at: datetime) -> None:
        row = {**attempt.__dict__, "expires_at": expires_at.timestamp()}
        await self._database.write(lambda connection: connection.execute(insert(sign_in_attempts).values(row)))

    async def take_attempt(self, state_hash: str, now: datetime) -> Attempt | None:
        """The attempt, which then is gone. None if it is unknown, used or expired."""
        return await self._database.write(_take_attempt, state_hash, now)

    async def find_account(self, issuer: str, subject: str, now: datetime, kind: str = OIDC) -> Account | None:
        """Whose identity this is, as an open account; notes that it was used."""
        return await self._database.write(_find_account, kind, issuer, subject, now)

    async def of_account(self, account: AccountId) -> tuple[Identity, ...]:
        query = select(identities).where(identities.c.account == account).order_by(identities.c.linked_at)
        return tuple(
            Identity(row.issuer, row.subject, row.display, moment(row.linked_at), moment(row.used_at), row.kind)
            for row in await self._database.read(fetch, query)
        )

    async def link(self, account: AccountId, identity: Identity, actor: Actor) -> bool:
        """False if the identity is linked already, to this account or another."""
        return await self._database.write(_link, account, identity, actor)

    async def unlink(self, account: AccountId, issuer: str, subject: str, actor: Actor) -> bool:
        """False if it is the last way to sign in, or is not this account's."""
        return await self._database.write(_unlink, account, issuer, subject, actor)

    async def create_account(self, name: str, identity: Identity, actor: Actor) -> Account | None:
        """A new account for somebody who came for the first time; None if they had one, which is closed.

        A number is added to a name that is taken.
        """
        return await self._database.write(_create_account, name, identity, actor)


def _take_attempt(connection: Connection, state_hash: str, now: datetime) -> Attempt | None:
    mine = (sign_in_attempts.c.state_hash == state_hash) & (sign_in_attempts.c.expires_at > now.timestamp())
    row = connection.execute(delete(sign_in_attempts).where(mine).returning(*sign_in_attempts.c)).one_or_none()
    if row is None:
        return None
    values: dict[str, Any] = dict(row._mapping)
    del values["expires_at"]
    return Attempt(**values)


def _find_account(connection: Connection, kind: str, issuer: str, subject: str, now: datetime) -> Account | None:
    this = (identities.c.kind == kind) & (identities.c.issuer == issuer) & (identities.c.subject == subject)
    query = select(accounts).join(identities, identities.c.account == accounts.c.id)
    rows = fetch(connection, query.where(this, accounts.c.closed_at.is_(None)))
    change(connection, update(identities).where(this).values(used_at=now.timestamp()))
    return next((as_account(row) for row in rows), None)


def _link(connection: Connection, account: AccountId, identity: Identity, actor: Actor) -> bool:
    if fetch(connection, _find_identity(identity)):
        return False
    connection.execute(
        insert(identities).values(
            kind=identity.kind,
            issuer=identity.issuer,
            subject=identity.subject,
            account=account,
            display=identity.display,
            linked_at=identity.linked_at.timestamp(),
            used_at=identity.used_at.timestamp(),
        )
    )
    write_line(connection, actor, "link an identity", account, after=identity.issuer)
    return True


def _unlink(connection: Connection, account: AccountId, issuer: str, subject: str, actor: Actor) -> bool:
    ways = sum(
        connection.execute(select(func.count()).select_from(table).where(table.c.account == account)).scalar_one()
        for table in (credentials, identities)
    )
    this = (identities.c.account == account) & (identities.c.issuer == issuer) & (identities.c.subject == subject)
    if ways < 2 or change(connection, delete(identities).where(this)) == 0:
        return False
    write_line(connection, actor, "unlink an identity", account, before=issuer)
    return True


def _create_account(connection: Connection, name: str, identity: Identity, actor: Actor) -> Account | None:
    if fetch(connection, _find_identity(identity)):
        return None
    for tried in _number_names(name):
        account = insert_account(connection, tried, actor.at, name_key=key_of_name(tried))
        if account is not None:
            _link(connection, account.id, identity, Actor(account.id, actor.at, actor.address_hash))
            return account
    raise AssertionError("there are endlessly many numbers")


def _find_identity(identity: Identity) -> Select[Any]:
    this = (identities.c.issuer == identity.issuer) & (identities.c.subject == identity.subject)
    return select(identities.c.account).where(this, identities.c.kind == identity.kind)


def _number_names(name: str) -> Iterator[str]:
    yield name
    for number in count(2):
        ending = f" {number}"
        yield name[: MAX_NAME_CHARACTERS - len(ending)].rstrip() + ending
