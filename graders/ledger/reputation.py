"""Reads what the fairness rule needs: what a learner and their address have pending and used lately."""

from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, case, func, or_, select

from graders.contract.jobs import Queue
from graders.contract.model import LearnerId
from graders.ledger.clock import now_seconds
from graders.ledger.fairness import RECENT_SECONDS, SHORT_RUN_SECONDS, AddressLoad, Load, Pace, Reputation
from graders.ledger.records import Origin, Policy, State
from graders.ledger.tables import finished, is_background, running, submissions, unfinished, workers
from graders.ledger.workers import is_heard_of

RECENT_RUNS = 50
FIRST_GUESS_SECONDS = 1.0


class Found(NamedTuple):
    pending: int
    used_seconds: float
    long_seconds: float
    abused_seconds: float
    trusted: int
    short_runs: int


def read_reputation(connection: Connection, learner: LearnerId, origin: Origin, besides: str | None) -> Reputation:
    """`besides` is a submission that is about to be superseded, so it is not counted."""
    row = submissions.c
    mine = _read(connection, (row.learner == learner) & (row.id != (besides or "")))
    theirs = Found(0, 0.0, 0.0, 0.0, 0, 0)
    if origin.address_key is not None:
        lately = or_(unfinished, row.finished_at > now_seconds() - RECENT_SECONDS)
        theirs = _read(connection, (row.address_key == origin.address_key) & lately & (row.id != (besides or "")))
    return Reputation(
        learner=Load(mine.pending, mine.used_seconds, mine.long_seconds),
        short_runs=mine.short_runs,
        known_seconds=origin.known_seconds,
        address=AddressLoad(
            theirs.pending, theirs.used_seconds, theirs.abused_seconds, theirs.trusted, theirs.short_runs
        ),
    )


def _read(connection: Connection, whose: ColumnElement[bool]) -> Found:
    """Runs in the background count neither for nor against anybody."""
    row = submissions.c
    now, since = now_seconds(), now_seconds() - RECENT_SECONDS
    end = func.coalesce(row.finished_at, now)
    start = case((row.started_at > since, row.started_at), else_=since)
    # A job that was released has a start time although it is waiting again.
    ran = and_(row.started_at.is_not(None), row.state != State.QUEUED)
    used = case((ran & (end > since), end - start), else_=0.0)
    is_long = ran & (end - row.started_at > SHORT_RUN_SECONDS)
    query = select(
        _count(unfinished),
        _sum(used),
        _sum(case((is_long, used), else_=0.0)),
        _sum(case((is_long & row.proven, used), else_=0.0)),
        _count(unfinished & row.proven),
        _count(finished & ran & ~is_long),
    ).where(whose, ~is_background)
    return Found(*connection.execute(query).one())


def _count(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.coalesce(func.sum(case((condition, 1), else_=0)), 0)


def _sum(seconds: ColumnElement[Any]) -> ColumnElement[float]:
    return func.coalesce(func.sum(seconds), 0.0)


def read_pace(connection: Connection, queue: Queue, policy: Policy) -> Pace:
    """Computed from the last runs of each sort, the slots of the live workers, and the jobs running now."""
    row = submissions.c
    slots = select(func.sum(workers.c.slots)).where(workers.c.queue == queue, is_heard_of(policy))
    runs = select(_count(row.proven), _count(~row.proven)).where(row.queue == queue, running)
    proven_running, unproven_running = connection.execute(runs).one()
    serving = connection.execute(slots).scalar_one() or 0
    return Pace(
        slots=max(serving, 1),
        proven_seconds=_read_mean(connection, queue, row.proven),
        unproven_seconds=_read_mean(connection, queue, ~row.proven),
        proven_running=proven_running,
        unproven_running=unproven_running,
        is_served=serving > 0,
    )


def _read_mean(connection: Connection, queue: Queue, sort: ColumnElement[bool]) -> float:
    row = submissions.c
    recent = (
        select((row.finished_at - row.started_at).label("seconds"))
        .where(row.queue == queue, finished, row.started_at.is_not(None), ~is_background, sort)
        .order_by(row.number.desc())
        .limit(RECENT_RUNS)
        .subquery()
    )
    mean: float | None = connection.execute(select(func.avg(recent.c.seconds))).scalar_one()
    return FIRST_GUESS_SECONDS if mean is None else mean
