"""Closes exercises and cells that no running grader can judge or run as they need: no submission is in vain."""

from app.course.model import Exercise
from app.web.edge.site import Site
from graders.contract.jobs import Device, Queue

NO_METER = (
    "This exercise is closed on this site: it is judged by memory, and no running grader can measure that. "
    "Ask the person who runs the site: docs/operating.md has the remedy under “Peak memory”."
)
NO_CARD = (
    "This exercise is closed on this site: it runs on a GPU, and no grader with one is running. "
    "Ask the person who runs the site: docs/operating.md has the remedy under “A card”."
)


class Closed(Exception):
    """Nothing was submitted or counted. The message is a sentence for the learner."""


async def find_closing(site: Site, exercise: Exercise) -> str:
    """Why it is closed; "" if it is open, also while no grader has reported: what comes then waits for one."""
    device = exercise.manifest.device
    if device is not Device.GPU and not exercise.manifest.memory_meter:
        return ""
    workers = [worker.hello for worker in await site.ledger.workers()]
    if not workers:
        return ""
    queue = await choose_queue(site, device)
    serving = [hello for hello in workers if hello.queue is queue]
    if device is Device.GPU and not serving:
        return NO_CARD
    if exercise.manifest.memory_meter and not any(hello.memory_cgroup for hello in serving):
        return NO_METER
    return ""


async def need_grader(site: Site, exercise: Exercise) -> None:
    """Raises Closed."""
    if closing := await find_closing(site, exercise):
        raise Closed(closing)


async def has_card(site: Site) -> bool:
    """Whether a grader with a card is running."""
    return any(worker.hello.queue is Queue.GPU for worker in await site.ledger.workers())


async def choose_queue(site: Site, device: Device) -> Queue:
    """Where a job for this device goes now."""
    return device.choose_queue(has_card=device is not Device.CPU and await has_card(site))
