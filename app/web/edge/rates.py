"""Rate limits and quotas: one per learner, and a wider one per network address.

The address's limit is wide because a class of 300 may share one; it stops a script that drops its cookie. An act
that the learner's limit refuses does not count for the address, so one flooder takes nothing from the others there.
The counts are in this process's memory, or, where several websites share a database, in that.
"""

from enum import StrEnum
from typing import Protocol

from limits import RateLimitItem, RateLimitItemPerDay, RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import SlidingWindowCounterRateLimiter

from graders.contract.model import LearnerId

ADDRESS_FACTOR = 100
"""The address's limit as a multiple of a learner's: a third of a class of 300 may be at their limit at once."""
BYTES_A_DAY = 16 << 20
"""What one learner may store per day: some 200 submissions of the largest size, or a day of autosaved drafts."""
ADDRESS = "address"
SESSIONS_PER_NOTE = RateLimitItemPerDay(4)
"""More than one, because a first request that is refused has used the note too."""


class Act(StrEnum):
    """The kinds of acts that are counted separately."""

    WRITE = "write"
    RUN = "run"
    SUBMIT = "submit"
    PUBLIC_CHECK = "public-check"
    EXPORT = "export"
    FOLLOW = "follow"
    COMPARE = "compare"
    DRAW = "draw"
    SIGN_IN = "sign-in"
    TYPE = "type"
    SEARCH = "search"
    REPORT = "report"
    JOIN = "join"
    ASK = "ask"
    COMMENT = "comment"


PER_MINUTE = {
    Act.WRITE: 240,
    Act.RUN: 40,
    Act.SUBMIT: 30,
    Act.PUBLIC_CHECK: 40,
    Act.EXPORT: 6,
    Act.FOLLOW: 90,
    Act.COMPARE: 90,
    Act.DRAW: 120,
    Act.SIGN_IN: 20,
    Act.TYPE: 60,
    Act.SEARCH: 120,
    Act.REPORT: 6,
    Act.JOIN: 10,
    Act.ASK: 10,
    Act.COMMENT: 30,
}

WORDS = {
    Act.WRITE: "answers and notes",
    Act.RUN: "runs of code",
    Act.SUBMIT: "submissions",
    Act.PUBLIC_CHECK: "runs of public checks",
    Act.EXPORT: "downloads of data",
    Act.FOLLOW: "streams",
    Act.COMPARE: "comparisons of attempts",
    Act.DRAW: "pictures of graphs",
    Act.SIGN_IN: "attempts to sign in",
    Act.TYPE: "pictures that follow your typing",
    Act.SEARCH: "searches",
    Act.REPORT: "reports",
    Act.JOIN: "attempts to join a section",
    Act.ASK: "questions and replies",
    Act.COMMENT: "comments",
}


class RateExceeded(Exception):
    """Too many of one act within a minute. The message is a sentence for the learner.

    `shared` means that the limit of the whole address was reached, not the learner's.
    """

    def __init__(self, act: Act, per_minute: int, *, shared: bool = False) -> None:
        whose = "Everybody at your network's address together" if shared else "You"
        super().__init__(f"{whose} may have {per_minute} {WORDS[act]} per minute, and that was one more.")
        self.retry_after_seconds = 30


class QuotaExceeded(Exception):
    """Too much text to store within a day. The message is a sentence for the learner."""

    def __init__(self, most_bytes: int, *, shared: bool = False) -> None:
        whose = "Everybody at your network's address together" if shared else "You"
        super().__init__(
            f"{whose} may have {most_bytes / 2**20:g} MiB kept per day, and this would be more. "
            "What you kept so far is safe; copy this text somewhere and try again tomorrow."
        )
        self.retry_after_seconds = 3600


class Counts(Protocol):
    """Counts of acts, each within a window of its limit's length."""

    async def hit(self, item: RateLimitItem, *identifiers: str, cost: int = 1) -> bool:
        """Count `cost` for this limit and these identifiers; False if that would exceed it, and then nothing is."""


class Rates:
    """`factor` multiplies every limit; load tests set it high. Without `counts` they are in this process's memory."""

    def __init__(self, factor: float = 1.0, counts: Counts | None = None) -> None:
        self._counts = counts or SlidingWindowCounterRateLimiter(MemoryStorage())
        self._mine = {act: RateLimitItemPerMinute(max(1, round(count * factor))) for act, count in PER_MINUTE.items()}
        self._address = {
            act: RateLimitItemPerMinute(max(1, round(count * factor * ADDRESS_FACTOR)))
            for act, count in PER_MINUTE.items()
        }
        self._my_bytes = RateLimitItemPerDay(max(1, round(BYTES_A_DAY * factor)))
        self._address_bytes = RateLimitItemPerDay(max(1, round(BYTES_A_DAY * factor * ADDRESS_FACTOR)))

    async def check(self, act: Act, learner: LearnerId | None, address: str) -> None:
        """Count one act. Raises RateExceeded when it is one too many for the learner or for the address."""
        if learner is not None:
            await self._hit(act, self._mine[act], "learner", learner)
        await self._hit(act, self._address[act], ADDRESS, address)

    async def take_note(self, note: str) -> bool:
        """Whether a page's note of when it was opened may begin one more session: a flood would use one for all."""
        return await self._counts.hit(SESSIONS_PER_NOTE, "note", note)

    async def check_bytes(self, act: Act, learner: LearnerId | None, address: str, count: int) -> None:
        """Count bytes that are about to be stored. Raises QuotaExceeded when they are too many for one day.

        What follows the typing is counted apart, so that an afternoon in an editor leaves room for answers.
        """
        hit, mine, shared = self._counts.hit, self._my_bytes, self._address_bytes
        counter = "typed bytes" if act is Act.TYPE else "bytes"
        if learner is not None and not await hit(mine, counter, "learner", learner, cost=count):
            raise QuotaExceeded(mine.amount)
        if not await hit(shared, counter, ADDRESS, address, cost=count):
            raise QuotaExceeded(shared.amount, shared=True)

    async def _hit(self, act: Act, limit: RateLimitItem, kind: str, who: str) -> None:
        if not await self._counts.hit(limit, act, kind, who):
            raise RateExceeded(act, limit.amount, shared=kind == ADDRESS)
