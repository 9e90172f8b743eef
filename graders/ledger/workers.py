"""Which workers there are: each says hello again and again, and a silent one is not counted."""

from sqlalchemy import Connection, delete, insert, select, update

from graders.contract.hello import WorkerHello
from graders.ledger.clock import now_seconds
from graders.ledger.queries import read_moment
from graders.ledger.records import Policy, WorkerSeen
from graders.ledger.tables import workers


def say_hello(connection: Connection, hello: WorkerHello) -> None:
    values = {"queue": hello.queue, "slots": hello.slots, "hello": hello.model_dump_json(), "seen_at": now_seconds()}
    known = update(workers).where(workers.c.worker == hello.worker).values(**values)
    if connection.execute(known).rowcount == 0:
        connection.execute(insert(workers).values(worker=hello.worker, **values))


def say_goodbye(connection: Connection, worker: str) -> None:
    connection.execute(delete(workers).where(workers.c.worker == worker))


def read_workers(connection: Connection, policy: Policy) -> tuple[WorkerSeen, ...]:
    """Those that said hello lately."""
    query = (
        select(workers)
        .where(workers.c.seen_at >= now_seconds() - policy.worker_silence_seconds)
        .order_by(workers.c.worker)
    )
    return tuple(
        WorkerSeen(WorkerHello.model_validate_json(row.hello), read_moment(row.seen_at))
        for row in connection.execute(query)
    )
