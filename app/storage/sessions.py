"""Sessions: which learner a browser's token stands for, and which account, if somebody signed in there."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, insert, select, update

from app.access.permissions import SECTION_STAFF
from app.storage.forgetting import forget
from app.storage.merging import count_work
from app.storage.records import Account, AccountId, Session
from app.storage.statements import change, fetch, insert_new, moment, optional_moment
from app.storage.tables import ACTIVE, accounts, learners, memberships, one_time_links, sessions
from graders.contract.model import LearnerId
from graders.ledger.database import Database

_is_section_staff = (
    select(memberships.c.account)
    .where(
        memberships.c.account == sessions.c.account,
        memberships.c.status == ACTIVE,
        memberships.c.role.in_([role.value for role in SECTION_STAFF]),
    )
    .exists()
)


class Sessions:
    """Reads and writes sessions. Each method is one transaction, or one read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, token_hash: str, now: datetime) -> Session | None:
        """The session, or None if it is unknown, revoked or expired, or its account is closed."""
        mine = (sessions.c.token_hash == token_hash) & (sessions.c.expires_at > now.timestamp())
        # A sign-in that was under way while the account was closed begins a session after all others were ended.
        mine &= accounts.c.closed_at.is_(None)
        rows = await self._database.read(fetch, _select_sessions().where(mine))
        return next((_session(row) for row in rows), None)

    async def keep(self, session: Session, now: datetime, expires_at: datetime) -> None:
        """Begin a session, with its learner if they are new, or renew it. One revoked meanwhile stays revoked."""
        await self._database.write(_keep, session, now, expires_at)

    async def begin_signed_in(self, session: Session, replaced: Session | None) -> Session:
        """Begin an account's session in place of this browser's. Work without an account waits, unclaimed."""
        return await self._database.write(_begin_signed_in, session, replaced)

    async def of_learner(self, learner: LearnerId, now: datetime) -> tuple[Session, ...]:
        """The learner's living sessions, the one used last first."""
        mine = (sessions.c.learner == learner) & (sessions.c.expires_at > now.timestamp())
        query = _select_sessions().where(mine).order_by(sessions.c.seen_at.desc())
        return tuple(_session(row) for row in await self._database.read(fetch, query))

    async def end(self, learner: LearnerId, token_hash: str) -> bool:
        """Revoke one session of this learner. False if there is none."""
        mine = (sessions.c.learner == learner) & (sessions.c.token_hash == token_hash)
        return await self._database.write(change, delete(sessions).where(mine)) == 1

    async def end_others(self, account: AccountId, kept: str = "") -> int:
        """Revoke the account's sessions except the one with this hash; returns how many."""
        others = (sessions.c.account == account) & (sessions.c.token_hash != kept)
        return await self._database.write(change, delete(sessions).where(others))

    async def leave_unclaimed(self, session: Session) -> None:
        """The person said that the earlier work of this browser is not theirs: nothing leads to it any more."""
        mine = sessions.c.token_hash == session.token_hash
        await self._database.write(change, update(sessions).where(mine).values(unclaimed=None))


def end_sessions(connection: Connection, account: AccountId) -> None:
    """Revoke every session and one-time link of an account, within a transaction that changes what it may do."""
    change(connection, delete(sessions).where(sessions.c.account == account))
    end_links(connection, account)


def end_links(connection: Connection, account: AccountId) -> None:
    """Revoke one-time links: whoever made one for a learner may not enter what the account is now."""
    change(connection, delete(one_time_links).where(one_time_links.c.account == account))


def _select_sessions() -> Select[Any]:
    made_at = accounts.c.made_at.label("account_made_at")
    person = (accounts.c.id, accounts.c.name, accounts.c.is_operator, accounts.c.terms_digest, made_at)
    return select(sessions, *person, _is_section_staff.label("is_section_staff")).join_from(
        sessions, accounts, accounts.c.id == sessions.c.account, isouter=True
    )


def _session(row: Row[Any]) -> Session:
    learner = LearnerId(row.learner)
    account = None
    if row.id is not None:
        made_at = moment(row.account_made_at)
        account = Account(AccountId(row.id), learner, row.name, row.is_operator, made_at, row.terms_digest)
    return Session(
        token_hash=row.token_hash,
        learner=learner,
        made_at=moment(row.made_at),
        seen_at=moment(row.seen_at),
        account=account,
        authenticated_at=optional_moment(row.authenticated_at),
        method=row.method or "",
        user_agent=row.user_agent or "",
        unclaimed=None if row.unclaimed is None else LearnerId(row.unclaimed),
        is_staff=account is not None and (account.is_operator or row.is_section_staff),
    )


def _keep(connection: Connection, session: Session, now: datetime, expires_at: datetime) -> None:
    renewed = {"seen_at": now.timestamp(), "expires_at": expires_at.timestamp()}
    known = sessions.c.token_hash == session.token_hash
    # A new session was first seen now. It may have been made earlier, when its page was opened.
    if change(connection, update(sessions).where(known).values(renewed)) or session.seen_at != now:
        return
    insert_new(connection, learners, {"id": session.learner, "created_at": now.timestamp()})
    row = {"token_hash": session.token_hash, "learner": session.learner, "made_at": session.made_at.timestamp()}
    connection.execute(insert(sessions).values(**row, **renewed))


def _begin_signed_in(connection: Connection, session: Session, replaced: Session | None) -> Session:
    assert session.account is not None
    assert session.authenticated_at is not None
    account, authenticated_at = session.account, session.authenticated_at
    if replaced is not None:
        session = replace(session, unclaimed=_leave(connection, replaced, account.id))
    made_at = session.made_at
    connection.execute(
        insert(sessions).values(
            token_hash=session.token_hash,
            learner=session.learner,
            made_at=made_at.timestamp(),
            seen_at=session.seen_at.timestamp(),
            expires_at=session.limits.expire_at(made_at, session.seen_at).timestamp(),
            account=account.id,
            authenticated_at=authenticated_at.timestamp(),
            method=session.method,
            user_agent=session.user_agent,
            unclaimed=session.unclaimed,
        )
    )
    return session


def _leave(connection: Connection, left: Session, account: AccountId) -> LearnerId | None:
    """End the browser's former session; returns the learner whose work is still unclaimed, if there is one."""
    connection.execute(delete(sessions).where(sessions.c.token_hash == left.token_hash))
    if left.account is not None:
        return left.unclaimed if left.account.id == account else None
    if count_work(connection, left.learner):
        return left.learner
    if not _has_other_sessions(connection, left.learner):
        forget(connection, left.learner)
    return None


def _has_other_sessions(connection: Connection, learner: LearnerId) -> Sequence[Row[Any]]:
    return fetch(connection, select(sessions.c.token_hash).where(sessions.c.learner == learner).limit(1))
