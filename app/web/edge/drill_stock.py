"""Keeps a stock of drawn graphs, so that a drill is ready when it is asked for and was run before anybody sees it.

The graders draw when they have nothing else to do, one small job at a time. What one reader takes, others still have:
readers do not empty the stock, they only see all of it. A reader who is near its end causes one more job.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Mapping
from datetime import datetime

from app.course.drills.drawing import drill_job
from app.course.drills.drill import LEVELS, Drill
from app.course.drills.keeping import keep_drawn
from app.course.model import Course
from app.storage.drill_graphs import DrillGraphs, Group, Taken, Wanted
from graders.contract.jobs import Queue
from graders.contract.model import LearnerId
from graders.contract.results import Outcome, RunEnd
from graders.ledger import AddressBusy, Ledger, QueueFull, StorageRefused, TooManyPending

log = logging.getLogger(__name__)

NOBODY = LearnerId("drills")
"""Whose jobs these are in the ledger."""
SHORT = {"cpu_seconds": 5.0, "wall_seconds": 10.0}
"""Limits of one job, which draws some programs in a second: whoever comes meanwhile may have to wait for its slot."""
LEAST_EACH = 12
DRAWS_A_JOB = 12
"""A job of so many took 0.4 s on two busy cores."""
FEW_LEFT = 3
PAUSE_SECONDS = 1.0
LOOK_SECONDS = 10.0
AFTER_FAILURE_SECONDS = 600.0
SEEDS = 2**31


def name_generators(drills: tuple[Drill, ...], concept: str = "") -> Mapping[str, str]:
    """The drills on a concept, or all, with their generators' digests."""
    return {drill.id: drill.digest for drill in drills if not concept or concept in drill.question.concepts}


class DrillStock:
    """One for each website process. `read_course` returns the present course."""

    def __init__(
        self, graphs: DrillGraphs, ledger: Ledger, read_course: Callable[[], Course], clock: Callable[[], datetime]
    ) -> None:
        self.graphs = graphs
        self._ledger = ledger
        self._read_course = read_course
        self._clock = clock
        self._short: set[Group] = set()
        self._failed: dict[Group, float] = {}

    async def take(self, learner: LearnerId, wanted: Wanted) -> Taken | None:
        """A graph that this learner has not answered, or None. Where few are left, more will be drawn."""
        taken = await self.graphs.take(learner, wanted, self._clock())
        if taken is None:
            levels = LEVELS if wanted.level is None else (wanted.level,)
            self._short |= {(drill, level) for drill in wanted.drills for level in levels}
        elif taken.left < FEW_LEFT:
            self._short.add((taken.stored.drill, taken.stored.graph.level))
        return taken

    async def askable(self, learner: LearnerId, drills: Mapping[str, str]) -> frozenset[str]:
        """Those of the drills, given with their generators' digests, that this learner can be asked now.

        For the others more will be drawn: review leaves them out until then.
        """
        found = await self.graphs.askable(learner, drills)
        self._short |= {(drill, level) for drill in drills if drill not in found for level in LEVELS}
        return found

    async def keep_filled(self) -> None:
        """Draw until cancelled. A refused write or a full queue is tried again soon, and any other failure later."""
        while True:
            rest_seconds = await self._fill_and_rest()
            await asyncio.sleep(rest_seconds)

    async def _fill_and_rest(self) -> float:
        """Draw once; returns for how many seconds to rest then."""
        try:
            return PAUSE_SECONDS if await self.fill_once() else LOOK_SECONDS
        except (StorageRefused, QueueFull, TooManyPending, AddressBusy):
            return LOOK_SECONDS
        except Exception:
            # A database that cannot be read for a moment, or one broken drill, must not end the drawing for good.
            log.exception("filling the stock of graphs failed; it is tried again in %d s", AFTER_FAILURE_SECONDS)
            return AFTER_FAILURE_SECONDS

    async def fill_once(self) -> bool:
        """Draw once for the group that needs it most, if the graders are idle. Whether anything was drawn."""
        drills = {drill.id: drill for drill in self._read_course().drills}
        group = await self._choose(drills) if drills else None
        if group is None or not await self._is_idle():
            return False
        drill, level = drills[group[0]], group[1]
        kept = await self._draw(drill, level)
        self._short.discard(group)
        if not kept:
            log.warning("no graph of the drill %s could be drawn; it is tried again later", drill.id)
            self._failed[group] = time.monotonic()
        return kept

    async def _choose(self, drills: Mapping[str, Drill]) -> Group | None:
        counts = await self.graphs.count({drill.id: drill.digest for drill in drills.values()})
        groups = [(name, level) for name in drills for level in LEVELS]
        due = [group for group in groups if counts.get(group, 0) < LEAST_EACH or group in self._short]
        rested = [group for group in due if time.monotonic() - self._failed.get(group, -1e9) > AFTER_FAILURE_SECONDS]
        return min(rested, key=lambda group: counts.get(group, 0), default=None)

    async def _is_idle(self) -> bool:
        depth = await self._ledger.depth(Queue.CPU)
        return not depth.queued and not depth.running and bool(await self._ledger.workers())

    async def _draw(self, drill: Drill, level: int) -> bool:
        wanted = [(secrets.randbelow(SEEDS), level) for _ in range(DRAWS_A_JOB)]
        key = secrets.token_hex(16)
        job = drill_job(drill, wanted)
        job = job.model_copy(update={"limits": job.limits.model_copy(update=SHORT)})
        accepted = await self._ledger.submit(NOBODY, key, job, idle=True)
        async for _ in self._ledger.follow(accepted.id):
            pass
        found = await self._ledger.find(accepted.id)
        if found is None or not isinstance(found.result, RunEnd) or found.result.outcome is not Outcome.OK:
            return False
        known = await self.graphs.sources(drill.id)
        kept = await asyncio.to_thread(keep_drawn, drill, found.result.stdout, known)
        for why, count in kept.refused.items():
            log.info("%d drawn programs of %s were refused: %s", count, drill.id, why)
        torch = next((seen.hello.torch for seen in await self._ledger.workers() if seen.hello.torch), "")
        if kept.graphs:
            await self.graphs.add(drill.id, drill.digest, kept.graphs, torch, self._clock())
        return bool(kept.graphs)
