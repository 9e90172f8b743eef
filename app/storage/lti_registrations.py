"""Learning platforms that an operator registered, their installations, and the site's own keys."""

import json
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, select, update

from app.linking.keys import SigningKey
from app.linking.lti import Registration
from app.storage.audit import Actor, write_line
from app.storage.statements import change, fetch, insert_new, moment, optional_moment
from app.storage.tables import lti_deployments, lti_keys, lti_registrations
from graders.ledger.database import Database


@dataclass(frozen=True)
class Deployment:
    """An installation of the site at a platform. `allowed_at` is None while it waits for an operator's yes."""

    registration: str
    deployment_id: str
    seen_at: datetime
    allowed_at: datetime | None


class LtiRegistrations:
    """Reads and writes registrations. Each method is one transaction, or one read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, registration: Registration, actor: Actor) -> bool:
        """Register a platform; the id of `registration` is replaced. False if issuer and client id are known."""
        return await self._database.write(_add, registration, actor)

    async def all(self) -> tuple[Registration, ...]:
        query = select(lti_registrations).order_by(lti_registrations.c.name, lti_registrations.c.id)
        return tuple(as_registration(row) for row in await self._database.read(fetch, query))

    async def find(self, registration: str) -> Registration | None:
        """A registration that is open."""
        return await self._find_one(lti_registrations.c.id == registration)

    async def find_for_login(self, issuer: str, client_id: str) -> Registration | None:
        """The open registration of this issuer and client id; without one, the issuer's only registration."""
        whose = lti_registrations.c.issuer == issuer
        return await self._find_one(whose & (lti_registrations.c.client_id == client_id) if client_id else whose)

    async def _find_one(self, which: ColumnElement[bool]) -> Registration | None:
        query = select(lti_registrations).where(which, lti_registrations.c.is_open)
        rows = await self._database.read(fetch, query)
        return as_registration(rows[0]) if len(rows) == 1 else None

    async def set_open(self, registration: str, is_open: bool, actor: Actor) -> bool:
        """Whether launches are taken and grades sent. False if there is no such registration."""
        return await self._database.write(_set_open, registration, is_open, actor)

    async def deployments(self) -> tuple[Deployment, ...]:
        """Those that wait come first, the newest of them first."""
        query = select(lti_deployments).order_by(
            lti_deployments.c.allowed_at.is_not(None), lti_deployments.c.seen_at.desc()
        )
        return tuple(
            Deployment(row.registration, row.deployment_id, moment(row.seen_at), optional_moment(row.allowed_at))
            for row in await self._database.read(fetch, query)
        )

    async def see_deployment(self, registration: str, deployment: str, now: datetime) -> bool:
        """Whether launches from this installation are taken. A new one waits from now on."""
        return await self._database.write(_see_deployment, registration, deployment, now)

    async def allow_deployment(self, registration: str, deployment: str, actor: Actor) -> bool:
        """False if there is none that waits."""
        return await self._database.write(_allow_deployment, registration, deployment, actor)

    async def keys(self) -> tuple[SigningKey, ...]:
        """The site's keys, the newest first."""
        rows = await self._database.read(fetch, select(lti_keys).order_by(lti_keys.c.signs_from.desc()))
        return tuple(SigningKey(row.kid, row.locked, moment(row.made_at), moment(row.signs_from)) for row in rows)

    async def add_key(self, key: SigningKey, actor: Actor, retired: Collection[str] = ()) -> None:
        """Keep a key, and end the `retired` ones."""
        await self._database.write(_add_key, key, actor, retired)


def as_registration(row: Row[Any]) -> Registration:
    return Registration(
        id=row.id,
        name=row.name,
        issuer=row.issuer,
        client_id=row.client_id,
        auth_url=row.auth_url,
        token_url=row.token_url,
        token_audience=row.token_audience,
        jwks_url=row.jwks_url,
        frame_origins=tuple(json.loads(row.frame_origins)),
        is_open=row.is_open,
    )


def _add(connection: Connection, registration: Registration, actor: Actor) -> bool:
    key = secrets.token_hex(16)
    row = {**registration.__dict__, "id": key, "frame_origins": json.dumps(registration.frame_origins)}
    if not insert_new(connection, lti_registrations, {**row, "made_at": actor.at.timestamp()}):
        return False
    write_line(connection, actor, "register a learning platform", key, after=registration.issuer)
    return True


def _set_open(connection: Connection, registration: str, is_open: bool, actor: Actor) -> bool:
    this = lti_registrations.c.id == registration
    if not change(connection, update(lti_registrations).where(this).values(is_open=is_open)):
        return False
    write_line(connection, actor, "open or close a learning platform", registration, after=str(is_open))
    return True


def _this(registration: str, deployment: str) -> ColumnElement[bool]:
    return (lti_deployments.c.registration == registration) & (lti_deployments.c.deployment_id == deployment)


def _see_deployment(connection: Connection, registration: str, deployment: str, now: datetime) -> bool:
    row = {"registration": registration, "deployment_id": deployment, "seen_at": now.timestamp()}
    insert_new(connection, lti_deployments, row)
    found = fetch(connection, select(lti_deployments.c.allowed_at).where(_this(registration, deployment)))
    return found[0].allowed_at is not None


def _allow_deployment(connection: Connection, registration: str, deployment: str, actor: Actor) -> bool:
    waiting = _this(registration, deployment) & lti_deployments.c.allowed_at.is_(None)
    if not change(connection, update(lti_deployments).where(waiting).values(allowed_at=actor.at.timestamp())):
        return False
    write_line(connection, actor, "allow a deployment", registration, after=deployment)
    return True


def _add_key(connection: Connection, key: SigningKey, actor: Actor, retired: Collection[str]) -> None:
    row = {"kid": key.kid, "locked": key.locked, "made_at": key.made_at.timestamp()}
    insert_new(connection, lti_keys, {**row, "signs_from": key.signs_from.timestamp()})
    connection.execute(delete(lti_keys).where(lti_keys.c.kid.in_(list(retired))))
    write_line(connection, actor, "make a key for learning platforms", key.kid)
