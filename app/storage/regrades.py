"""Exercises judged again for a section: what is asked, what came of it, and whose results it replaces.

Starting a regrade queues each chosen submission once more. Nothing counts until somebody applies it, in one
transaction; a submission keeps its own result all the same. The results of a running regrade are in the ledger, and
those of an applied one here.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, bindparam, func, insert, select, update

from app.learning.grading import Kind
from app.storage.audit import Actor, write_line
from app.storage.class_submissions import was_handed_in_here
from app.storage.handed_in import learners_of
from app.storage.records import AccountId, SectionId
from app.storage.regraded import Result, find_counting, is_better
from app.storage.statements import change, fetch, insert_into, moment, optional_moment
from app.storage.tables import accounts, assignments, regrade_items, regrades
from app.storage.tables.grades import APPLIED, DROPPED, RUNNING
from graders.contract.model import SubmissionId
from graders.ledger.database import Database
from graders.ledger.queries import NO_ATTEMPT
from graders.ledger.records import State
from graders.ledger.regrading import end_regrades, judge_again
from graders.ledger.tables import finished, is_graded, submissions


class Scope(StrEnum):
    """Which of each learner's judged submissions to judge again."""

    NEWEST = "newest"
    ALL = "all"


class RegradePolicy(StrEnum):
    """What an applied regrade may change: only for the better, or in both directions."""

    RAISE = "raise"
    REPLACE = "replace"


@dataclass(frozen=True)
class Plan:
    """What somebody asks for. `exercise_digest` is the version that is to judge."""

    scope: Scope
    policy: RegradePolicy
    reason: str
    exercise_digest: str


@dataclass(frozen=True)
class Regrade:
    """`state` is "running", "applied" or "dropped". `made_by` is a name, empty where that account is gone."""

    number: int
    assignment: str
    title: str
    plan: Plan
    state: str
    made_by: str
    made_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True)
class Item:
    """One submission of a regrade. `after` is None until it was judged. `counts`: it replaced the result before."""

    submission: SubmissionId
    account: AccountId
    submitted_at: datetime
    before: Result
    after: Result | None
    counts: bool = False


class Regrades:
    """Reads and writes regrades. Each method is one transaction, or one read. A foreign section's finds nothing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def start(self, section: SectionId, assignment: str, plan: Plan, actor: Actor) -> int | None:
        """Queue the submissions of the section's learners; returns the regrade's number, or that of the one running.

        None if the section has no such exercise, or nobody's submission to it was judged. Wake the queues afterwards.
        """
        return await self._database.write(_start, section, assignment, plan, actor)

    async def of_section(self, section: SectionId) -> tuple[Regrade, ...]:
        """Newest first."""
        return await self._database.read(_read_regrades, assignments.c.section == section)

    async def find(self, section: SectionId, number: int) -> Regrade | None:
        this = (assignments.c.section == section) & (regrades.c.number == number)
        found = await self._database.read(_read_regrades, this)
        return found[0] if found else None

    async def items(self, section: SectionId, number: int) -> tuple[Item, ...]:
        """The submissions of a regrade of the section, in the order in which they were handed in."""
        return await self._database.read(_read_items, section, number)

    async def apply(self, section: SectionId, number: int, actor: Actor) -> bool:
        """Let its results count. False, and nothing changes, unless it is running and everything was judged."""
        return await self._database.write(_apply, section, number, actor)

    async def drop(self, section: SectionId, number: int, actor: Actor) -> bool:
        """End a running regrade without effect. False if it does not run. Tell the ledger afterwards."""
        return await self._database.write(_drop, section, number, actor)


def _start(connection: Connection, section: SectionId, assignment: str, plan: Plan, actor: Actor) -> int | None:
    is_it = (assignments.c.id == assignment) & (assignments.c.section == section)
    is_it &= assignments.c.kind == Kind.EXERCISE.value
    found = fetch(connection, select(assignments.c.target, assignments.c.title).where(is_it))
    chosen = _choose(connection, section, found[0].target, plan.scope) if found else []
    if not chosen:
        return None
    number = _insert_regrade(connection, assignment, plan, actor)
    if number is None:
        is_running = (regrades.c.assignment == assignment) & (regrades.c.state == RUNNING)
        running: int = connection.execute(select(regrades.c.number).where(is_running)).scalar_one()
        return running
    counting = find_counting(connection, [assignment])
    jobs = judge_again(connection, [SubmissionId(row.id) for row in chosen], plan.exercise_digest)
    rows = [_make_item(number, row, jobs, counting) for row in chosen]
    connection.execute(insert(regrade_items), rows)
    after = f"{found[0].title}: {len(rows)} submissions, {plan.scope}, {plan.policy}"
    write_line(
        connection, actor, "judge again", f"regrade {number}", section=section, after=after, reason=plan.reason
    )
    return number


def _choose(connection: Connection, section: SectionId, exercise: str, scope: Scope) -> list[Row[*tuple[Any, ...]]]:
    row = submissions.c
    learners = learners_of(section).with_only_columns(accounts.c.learner)
    judged = is_graded & finished & row.outcome.not_in(NO_ATTEMPT)
    mine = (row.exercise == exercise) & row.learner.in_(learners) & judged & was_handed_in_here(section)
    query = select(row.id, row.learner, row.outcome, row.cases_passed, row.cases_total).where(mine)
    if scope is Scope.NEWEST:
        query = query.where(row.number.in_(select(func.max(row.number)).where(mine).group_by(row.learner)))
    return list(connection.execute(query.order_by(row.number)))


def _insert_regrade(connection: Connection, assignment: str, plan: Plan, actor: Actor) -> int | None:
    """The number of the new regrade, or None if one is running for the assignment."""
    row = {
        "assignment": assignment,
        "scope": plan.scope.value,
        "policy": plan.policy.value,
        "reason": plan.reason,
        "exercise_digest": plan.exercise_digest,
        "state": RUNNING,
        "made_by": actor.account,
        "made_at": actor.at.timestamp(),
    }
    statement = insert_into(connection, regrades).values(row).on_conflict_do_nothing()
    number: int | None = connection.execute(statement.returning(regrades.c.number)).scalar_one_or_none()
    return number


def _make_item(
    number: int,
    found: Row[*tuple[Any, ...]],
    jobs: Mapping[SubmissionId, SubmissionId],
    counting: Mapping[SubmissionId, Result],
) -> dict[str, Any]:
    own = Result(found.outcome, found.cases_passed or 0, found.cases_total or 0)
    before = counting.get(SubmissionId(found.id), own)
    return {
        "regrade": number,
        "submission": found.id,
        "learner": found.learner,
        "job": jobs[SubmissionId(found.id)],
        "outcome_before": before.outcome,
        "passed_before": before.passed,
        "total_before": before.total,
    }


def _read_regrades(connection: Connection, *conditions: ColumnElement[bool]) -> tuple[Regrade, ...]:
    query = (
        select(regrades, assignments.c.title, accounts.c.name)
        .join(assignments, assignments.c.id == regrades.c.assignment)
        .outerjoin(accounts, accounts.c.id == regrades.c.made_by)
        .where(*conditions)
        .order_by(regrades.c.number.desc())
    )
    return tuple(
        Regrade(
            row.number,
            row.assignment,
            row.title,
            Plan(Scope(row.scope), RegradePolicy(row.policy), row.reason, row.exercise_digest),
            row.state,
            row.name or "",
            moment(row.made_at),
            optional_moment(row.ended_at),
        )
        for row in fetch(connection, query)
    )


def _read_items(connection: Connection, section: SectionId, number: int) -> tuple[Item, ...]:
    job, own = submissions.alias(), submissions.c
    query = (
        select(
            regrade_items,
            accounts.c.id.label("account"),
            own.submitted_at,
            job.c.state,
            job.c.outcome,
            job.c.cases_passed,
            job.c.cases_total,
        )
        .join(accounts, accounts.c.learner == regrade_items.c.learner)
        .join(submissions, own.id == regrade_items.c.submission)
        .outerjoin(job, job.c.id == regrade_items.c.job)
        .where(_is_of(section), regrade_items.c.regrade == number)
        .order_by(own.number)
    )
    return tuple(_as_item(row) for row in connection.execute(query))


def _is_of(section: SectionId) -> ColumnElement[bool]:
    here = select(regrades.c.number).join(assignments, assignments.c.id == regrades.c.assignment)
    return regrade_items.c.regrade.in_(here.where(assignments.c.section == section))


def _as_item(row: Row[*tuple[Any, ...]]) -> Item:
    before = Result(row.outcome_before, row.passed_before, row.total_before)
    after = None
    if row.outcome_after is not None:
        after = Result(row.outcome_after, row.passed_after, row.total_after)
    elif row.state == State.FINISHED.value:
        after = Result(row.outcome, row.cases_passed or 0, row.cases_total or 0)
    return Item(
        SubmissionId(row.submission), AccountId(row.account), moment(row.submitted_at), before, after, row.counts
    )


def _apply(connection: Connection, section: SectionId, number: int, actor: Actor) -> bool:
    found = _find_running(connection, section, number)
    items = _read_items(connection, section, number)
    if found is None or any(item.after is None for item in items):
        return False
    changed = [item for item in items if replaces(item, found.plan.policy)]
    _write_results(connection, number, items, changed)
    _end(connection, number, APPLIED, actor)
    raised = sum(is_better(item.after, item.before) for item in changed if item.after)
    after = f"{found.title}: {raised} raised, {len(changed) - raised} lowered, of {len(items)}"
    line = {"after": after, "reason": found.plan.reason}
    write_line(connection, actor, "apply a regrade", f"regrade {number}", section=section, **line)
    return True


def replaces(item: Item, policy: RegradePolicy) -> bool:
    """Whether the new result counts in place of the one before, once the regrade is applied."""
    if item.after is None or item.after.outcome in NO_ATTEMPT:
        return False
    is_worse = is_better(item.before, item.after)
    return is_better(item.after, item.before) or (policy is RegradePolicy.REPLACE and is_worse)


def _write_results(connection: Connection, number: int, items: Collection[Item], changed: Collection[Item]) -> None:
    row, counting = regrade_items.c, {item.submission for item in changed}
    this = (row.regrade == number) & (row.submission == bindparam("this"))
    values: dict[str, Any] = {
        name: bindparam(name) for name in ("outcome_after", "passed_after", "total_after", "counts")
    }
    results = [
        {
            "this": item.submission,
            "outcome_after": item.after.outcome,
            "passed_after": item.after.passed,
            "total_after": item.after.total,
            "counts": item.submission in counting,
        }
        for item in items
        if item.after is not None
    ]
    connection.execute(update(regrade_items).where(this).values(values), results)


def _find_running(connection: Connection, section: SectionId, number: int) -> Regrade | None:
    this = (assignments.c.section == section) & (regrades.c.number == number) & (regrades.c.state == RUNNING)
    found = _read_regrades(connection, this)
    return found[0] if found else None


def _end(connection: Connection, number: int, state: str, actor: Actor) -> None:
    values = {"state": state, "ended_at": actor.at.timestamp()}
    change(connection, update(regrades).where(regrades.c.number == number).values(values))
    jobs = select(regrade_items.c.job).where(regrade_items.c.regrade == number)
    end_regrades(connection, [SubmissionId(row.job) for row in fetch(connection, jobs)])


def _drop(connection: Connection, section: SectionId, number: int, actor: Actor) -> bool:
    found = _find_running(connection, section, number)
    if found is None:
        return False
    _end(connection, number, DROPPED, actor)
    reason = found.plan.reason
    write_line(connection, actor, "drop a regrade", f"regrade {number}", section=section, reason=reason)
    return True
