"""How much of a lab's bound the learners of a section held: the best of each, and nothing that says whose it is.

No name, account or time of another learner comes out of here, so no page can show one by mistake.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, func, select

from app.access.permissions import Role
from app.storage.statements import fetch
from app.storage.tables import ACTIVE, accounts, memberships, sections
from graders.contract.model import LearnerId
from graders.ledger.database import Database
from graders.ledger.tables import is_graded, submissions


@dataclass(frozen=True)
class SectionBests:
    """The least share of each learner of a section who passed. `own` is the reader's; `others` are in order."""

    title: str
    own: float | None
    others: tuple[float, ...]


class Rankings:
    """Reads rankings. Each method is one read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of_learner(self, learner: LearnerId, exercise: str) -> tuple[SectionBests, ...]:
        """For each section of which they are a learner, by title, without archived ones."""
        return await self._database.read(_read, learner, exercise)


def _read(connection: Connection, learner: LearnerId, exercise: str) -> tuple[SectionBests, ...]:
    found: dict[str, dict[str, float]] = defaultdict(dict)
    mine = {row.section: row.title for row in fetch(connection, _sections_of(learner))}
    for row in fetch(connection, _bests(list(mine), exercise)):
        found[row.section][row.learner] = row.best
    return tuple(
        SectionBests(
            title=title,
            own=found[section].get(learner),
            others=tuple(sorted(best for who, best in found[section].items() if who != learner)),
        )
        for section, title in mine.items()
    )


_IS_LEARNER = (memberships.c.role == Role.LEARNER.value) & (memberships.c.status == ACTIVE)


def _sections_of(learner: LearnerId) -> Select[Any]:
    joined = memberships.join(sections).join(accounts, accounts.c.id == memberships.c.account)
    is_mine = _IS_LEARNER & (accounts.c.learner == learner) & sections.c.archived_at.is_(None)
    query = select(memberships.c.section, sections.c.title).select_from(joined)
    return query.where(is_mine).order_by(sections.c.title, sections.c.id)


def _bests(here: list[str], exercise: str) -> Select[Any]:
    joined = memberships.join(accounts, accounts.c.id == memberships.c.account).join(
        submissions, submissions.c.learner == accounts.c.learner
    )
    counts = is_graded & (submissions.c.exercise == exercise) & submissions.c.held_share.is_not(None)
    best = func.min(submissions.c.held_share).label("best")
    query = select(memberships.c.section, accounts.c.learner, best).select_from(joined)
    is_here = _IS_LEARNER & memberships.c.section.in_(here) & accounts.c.closed_at.is_(None)
    return query.where(is_here, counts).group_by(memberships.c.section, accounts.c.learner)
