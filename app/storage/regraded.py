"""Which results count after applied regrades, and what a learner reads about them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from app.storage.records import SectionId
from app.storage.statements import fetch, moment
from app.storage.tables import ACTIVE, accounts, assignments, memberships, regrade_items, regrades, sections
from app.storage.tables.grades import APPLIED
from graders.contract.model import LearnerId, SubmissionId
from graders.contract.results import Outcome
from graders.ledger.database import Database


@dataclass(frozen=True)
class Result:
    """How a submission was judged: the outcome, and how many of its cases passed."""

    outcome: str
    passed: int
    total: int

    @property
    def earned(self) -> float:
        return share(self.outcome, self.passed, self.total)


def share(outcome: str, passed: int | None, total: int | None) -> float:
    """The share of the cases that passed, from 0 to 1. Without passing, nobody gets to the whole."""
    if outcome == Outcome.PASSED.value:
        return 1.0
    return min(passed or 0, total - 1) / total if total else 0.0


def is_better(one: Result, other: Result) -> bool:
    return one.earned > other.earned


def find_counting(connection: Connection, wanted: Collection[str]) -> dict[SubmissionId, Result]:
    """For these assignments, the results that count in place of a submission's own; of several, the newest."""
    query = (
        select(regrade_items)
        .join(regrades, regrades.c.number == regrade_items.c.regrade)
        .where(regrades.c.assignment.in_(list(wanted)), regrades.c.state == APPLIED, regrade_items.c.counts)
        .order_by(regrades.c.number)
    )
    return {
        SubmissionId(row.submission): Result(row.outcome_after, row.passed_after, row.total_after)
        for row in fetch(connection, query)
    }


@dataclass(frozen=True)
class Regraded:
    """What a learner reads: a submission of theirs was judged again. `counts`: the new result is the one that counts.

    `section` and `assignment` are titles, `zone` is the section's.
    """

    submission: SubmissionId
    section: str
    assignment: str
    exercise: str
    zone: str
    reason: str
    applied_at: datetime
    before: Result
    after: Result
    counts: bool


class RegradedWork:
    """Reads a learner's applied regrades."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of_learner(
        self, learner: LearnerId, submission: SubmissionId | None = None, section: SectionId | None = None
    ) -> tuple[Regraded, ...]:
        """All that were applied, or those of a submission or section, oldest first, also without any change."""
        return await self._database.read(_read_of_learner, learner, submission, section)

    async def counting(self, assignment: str) -> Mapping[SubmissionId, Result]:
        """The results that count for this assignment in place of a submission's own."""
        return await self._database.read(find_counting, [assignment])


def _read_of_learner(
    connection: Connection, learner: LearnerId, submission: SubmissionId | None, section: SectionId | None
) -> tuple[Regraded, ...]:
    query = (
        select(
            regrade_items,
            regrades.c.reason,
            regrades.c.ended_at,
            assignments.c.title,
            assignments.c.target,
            sections.c.zone,
            sections.c.title.label("section_title"),
        )
        .join(regrades, regrades.c.number == regrade_items.c.regrade)
        .join(assignments, assignments.c.id == regrades.c.assignment)
        .join(sections, sections.c.id == assignments.c.section)
        .join(accounts, accounts.c.learner == regrade_items.c.learner)
        .join(memberships, (memberships.c.account == accounts.c.id) & (memberships.c.section == sections.c.id))
        .where(regrade_items.c.learner == learner, regrades.c.state == APPLIED, memberships.c.status == ACTIVE)
        .order_by(regrades.c.number)
    )
    if submission is not None:
        query = query.where(regrade_items.c.submission == submission)
    if section is not None:
        query = query.where(sections.c.id == section)
    return tuple(
        Regraded(
            submission=SubmissionId(row.submission),
            section=row.section_title,
            assignment=row.title,
            exercise=row.target,
            zone=row.zone,
            reason=row.reason,
            applied_at=moment(row.ended_at),
            before=Result(row.outcome_before, row.passed_before, row.total_before),
            after=Result(row.outcome_after, row.passed_after, row.total_after),
            counts=row.counts,
        )
        for row in fetch(connection, query)
    )
