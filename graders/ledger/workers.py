"""The workers that are alive: each says hello again and again, and a silent one does not count."""

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from graders.contract.hello import WorkerHello
from graders.ledger.clock import now_seconds
from graders.ledger.queries import read_moment
from graders.ledger.records import Policy, WorkerSeen
from graders.ledger.tables import workers

FUTURE_SECONDS = 1.0


def say_hello(connection: Connection, hello: WorkerHello) -> None:
    values = {"queue": hello.queue, "slots": hello.slots, "hello": hello.model_dump_json(), "seen_at": now_seconds()}
    known = update(workers).where(workers.c.worker == hello.worker).values(**values)
    if connection.execute(known).rowcount == 0:
        connection.execute(insert(workers).values(worker=hello.worker, **values))


def say_goodbye(connection: Connection, worker: str) -> None:
    connection.execute(delete(workers).where(workers.c.worker == worker))


def is_heard_of(policy: Policy) -> ColumnElement[bool]:
    """The condition that a worker said hello lately. A time in the future means that the clock was set back since."""
    now = now_seconds()
    return workers.c.seen_at.between(now - policy.worker_silence_seconds, now + FUTURE_SECONDS)


def read_workers(connection: Connection, policy: Policy) -> tuple[WorkerSeen, ...]:
    """The workers that said hello lately, by name."""
    query = select(workers).where(is_heard_of(policy)).order_by(workers.c.worker)
    return tuple(
        WorkerSeen(WorkerHello.model_validate_json(row.hello), read_moment(row.seen_at))
        for row in connection.execute(query)
    )
