"""Closes exercises that are judged by memory while no running grader can measure it: no submission is in vain."""

from app.course.model import Exercise
from app.web.edge.site import Site

CLOSED = (
    "This exercise is closed on this site: it is judged by memory, and no running grader can measure that. "
    "Ask the person who runs the site: docs/operating.md has the remedy under “Peak memory”."
)


class Unmeasured(Exception):
    """Nothing was submitted or counted. The message is a sentence for the learner."""

    def __init__(self) -> None:
        super().__init__(CLOSED)


async def is_closed(site: Site, exercise: Exercise) -> bool:
    """False also while no grader has reported: a submission then waits for one that may measure."""
    if not exercise.manifest.memory_meter:
        return False
    workers = await site.ledger.workers()
    return bool(workers) and not any(worker.hello.memory_cgroup for worker in workers)


async def need_memory_meter(site: Site, exercise: Exercise) -> None:
    """Raises Unmeasured."""
    if await is_closed(site, exercise):
        raise Unmeasured
