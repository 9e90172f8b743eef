"""The workers that are alive: each says hello again and again, and a silent one does not count."""

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from graders.contract.hello import WorkerHello
from graders.contract.jobs import Queue
from graders.ledger.clock import now_seconds
from graders.ledger.queries import read_moment
from graders.ledger.records import Condition, Policy, WorkerSeen
from graders.ledger.stored import read_hello
from graders.ledger.tables import queued, submissions, workers

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


def read_condition(connection: Connection, policy: Policy) -> Condition:
    row, now = submissions.c, now_seconds()
    silent = select(workers.c.worker).where(~is_heard_of(policy)).order_by(workers.c.worker)
    waits = select(row.queue, now - func.min(row.submitted_at)).where(queued).group_by(row.queue)
    return Condition(
        now_seconds=connection.execute(select(now)).scalar_one(),
        silent_workers=tuple(connection.execute(silent).scalars()),
        queues={Queue(queue): seconds for queue, seconds in connection.execute(waits)},
    )


def read_workers(connection: Connection, policy: Policy) -> tuple[WorkerSeen, ...]:
    """The workers that said hello lately, by name."""
    query = select(workers).where(is_heard_of(policy)).order_by(workers.c.worker)
    return tuple(WorkerSeen(read_hello(row.hello), read_moment(row.seen_at)) for row in connection.execute(query))
