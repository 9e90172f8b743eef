"""How long a learner has had a card lately: cards are few, and one learner could keep one busy all day."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, func, select

from graders.contract.jobs import Queue
from graders.contract.model import LearnerId
from graders.contract.results import Outcome
from graders.ledger.clock import now_seconds
from graders.ledger.errors import CardQuotaSpent
from graders.ledger.records import Policy
from graders.ledger.tables import is_background, submissions

# As long as the shortest time for which any job is kept, so that none is missing from the count.
WINDOW_SECONDS: Final = 3600.0


@dataclass(frozen=True)
class CardQuota:
    """Seconds in which runs of a learner had a card, within the last hour, and the most that they may."""

    used_seconds: float
    most_seconds: float


def read_card_quota(connection: Connection, learner: LearnerId, policy: Policy) -> CardQuota:
    """Runs that the grader failed cost nothing; those that are running count until now."""
    row, now = submissions.c, now_seconds()
    used = func.sum(func.coalesce(row.finished_at, now) - row.started_at)
    counted = (
        (row.learner == learner)
        & (row.queue == Queue.GPU)
        & (row.started_at > now - WINDOW_SECONDS)
        & ~is_background
        & (func.coalesce(row.outcome, "") != Outcome.GRADER_FAULT)
    )
    seconds = connection.execute(select(used).where(counted)).scalar_one()
    return CardQuota(max(0.0, float(seconds or 0.0)), policy.card_seconds)


def refuse_spent_quota(connection: Connection, learner: LearnerId, policy: Policy) -> None:
    """Raises CardQuotaSpent."""
    quota = read_card_quota(connection, learner, policy)
    if quota.used_seconds >= quota.most_seconds:
        raise CardQuotaSpent(quota.used_seconds, quota.most_seconds)
