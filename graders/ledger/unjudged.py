"""What waits because nobody can judge it: no grader serves its queue, or none has its version of the exercise."""

from sqlalchemy import Connection, func, select

from graders.contract.jobs import Queue
from graders.ledger.clock import now_seconds
from graders.ledger.records import Policy, Unjudged
from graders.ledger.tables import queued, submissions
from graders.ledger.workers import read_workers


def read_unjudged(connection: Connection, policy: Policy) -> tuple[Unjudged, ...]:
    """One for each queue without a grader, and for each version of an exercise that no grader of its queue has."""
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
            before = unserved.get(queue, Unjudged(queue, "", "", 0, 0.0))
            unserved[queue] = Unjudged(queue, "", "", before.waiting + count, max(before.seconds, seconds))
        elif digest and not any(hello.can_judge(exercise, digest) for hello in serving):
            unknown.append(Unjudged(queue, exercise, digest, count, seconds))
    return (*unserved.values(), *sorted(unknown, key=lambda one: (one.queue, one.exercise, one.digest)))
