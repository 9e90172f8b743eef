"""Rate limits, in this process's memory: a learner's own, and a wider one for the address they come from.

The address's limit is wide because a classroom may share one; it stops a script that drops its cookie.
"""

from enum import StrEnum

from limits import RateLimitItem, RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import SlidingWindowCounterRateLimiter

from graders.contract.model import LearnerId

ADDRESS_FACTOR = 8
ADDRESS = "address"


class Act(StrEnum):
    """What is counted apart."""

    WRITE = "write"
    RUN = "run"
    SUBMIT = "submit"
    LOOK = "look"
    EXPORT = "export"
    FOLLOW = "follow"
    COMPARE = "compare"


PER_MINUTE = {
    Act.WRITE: 240,
    Act.RUN: 40,
    Act.SUBMIT: 30,
    Act.LOOK: 40,
    Act.EXPORT: 6,
    Act.FOLLOW: 90,
    Act.COMPARE: 90,
}

WORDS = {
    Act.WRITE: "answers and notes",
    Act.RUN: "runs of code",
    Act.SUBMIT: "submissions",
    Act.LOOK: "runs of public checks",
    Act.EXPORT: "copies of your data",
    Act.FOLLOW: "streams",
    Act.COMPARE: "comparisons of attempts",
}


class RateExceeded(Exception):
    """Too many of one act within a minute. The message is a sentence for the learner.

    `shared`: it is the limit of everybody at this address together.
    """

    def __init__(self, act: Act, per_minute: int, *, shared: bool = False) -> None:
        whose = "Everybody at your network's address together" if shared else "You"
        super().__init__(f"{whose} may have {per_minute} {WORDS[act]} a minute, and that was one more.")
        self.retry_after_seconds = 30


class Rates:
    """`factor` widens every limit: a setting, which load tests set high."""

    def __init__(self, factor: float = 1.0) -> None:
        self._limiter = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._mine = {act: RateLimitItemPerMinute(max(1, round(count * factor))) for act, count in PER_MINUTE.items()}
        self._address = {
            act: RateLimitItemPerMinute(max(1, round(count * factor * ADDRESS_FACTOR)))
            for act, count in PER_MINUTE.items()
        }

    async def check(self, act: Act, learner: LearnerId | None, address: str) -> None:
        """Count one act. Raises RateExceeded when it is one too many for the learner or for the address."""
        await self._hit(act, self._address[act], ADDRESS, address)
        if learner is not None:
            await self._hit(act, self._mine[act], "learner", learner)

    async def _hit(self, act: Act, limit: RateLimitItem, kind: str, who: str) -> None:
        if not await self._limiter.hit(limit, act, kind, who):
            raise RateExceeded(act, limit.amount, shared=kind == ADDRESS)
