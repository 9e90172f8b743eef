"""What waits because nobody can judge it: no grader of its queue is there, has the exercise, or is new enough."""

from collections.abc import Sequence

from sqlalchemy import Connection, func, select

from graders.contract.hello import WorkerHello
from graders.contract.jobs import Queue
from graders.ledger.clock import now_seconds
from graders.ledger.records import Lack, Policy, Unjudged
from graders.ledger.tables import queued, submissions
from graders.ledger.workers import read_workers


def read_unjudged(connection: Connection, policy: Policy) -> tuple[Unjudged, ...]:
    """One for each queue without a grader, for each version of an exercise that no grader of its queue has, and for
    each queue with submissions that all of its graders have refused.
    """
    row = submissions.c
    waiting = connection.execute(
        select(row.queue, row.exercise, row.exercise_digest, func.count(), now_seconds() - func.min(row.submitted_at))
        .where(queued)
        .group_by(row.queue, row.exercise, row.exercise_digest)
    ).all()
    hellos = [seen.hello for seen in read_workers(connection, policy)] if waiting else []
    unserved: dict[Queue, Unjudged] = {}
    unknown = []
    for name, exercise, digest, count, seconds in waiting:
        queue = Queue(name)
        serving = [hello for hello in hellos if hello.queue == queue]
        if not serving:
            before = unserved.get(queue, Unjudged(queue, Lack.GRADER, 0, 0.0))
            unserved[queue] = Unjudged(queue, Lack.GRADER, before.waiting + count, max(before.seconds, seconds))
        elif digest and not any(hello.can_judge(exercise, digest) for hello in serving):
            unknown.append(Unjudged(queue, Lack.EXERCISE, count, seconds, exercise, digest))
    unknown.sort(key=lambda one: (one.queue, one.exercise, one.digest))
    return (*unserved.values(), *unknown, *_read_refused(connection, hellos))


def _read_refused(connection: Connection, hellos: Sequence[WorkerHello]) -> list[Unjudged]:
    """What no grader of its queue understands. One that has not met it yet may be newer, so all have to refuse it."""
    row = submissions.c
    found = []
    for queue in Queue:
        refused = [set(hello.refused) for hello in hellos if hello.queue == queue]
        by_all = set.intersection(*refused) if refused else set()
        counted = select(func.count(), now_seconds() - func.min(row.submitted_at)).where(queued, row.id.in_(by_all))
        waiting, seconds = connection.execute(counted).one() if by_all else (0, 0.0)
        if waiting:
            found.append(Unjudged(queue, Lack.PROGRAM, waiting, seconds))
    return found
