"""What grades are computed from: what a section's learners handed in, were granted, and had decided for them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, Select, func, select, true

from app.access.permissions import Role
from app.learning.grading import Allowance, Assignment, Counts, HandedIn, Kind, Override
from app.storage.records import AccountId, SectionId
from app.storage.regraded import find_counting, share
from app.storage.statements import fetch, moment, optional_moment
from app.storage.tables import (
    ACTIVE,
    DROPPED,
    LEFT,
    accounts,
    allowances,
    answers,
    memberships,
    overrides,
    predictions,
)
from graders.contract.model import SubmissionId
from graders.ledger.queries import count_who_tried, read_graded

Cell = tuple[str, AccountId]
"""An assignment's id, and whose work it is."""


@dataclass(frozen=True)
class ClassWork:
    """What a section's learners, also those who are gone, did for its assignments. A cell without any is missing."""

    handed_in: Mapping[Cell, Sequence[HandedIn]] = field(default_factory=dict)
    """In the order in which it was handed in."""
    allowances: Mapping[Cell, Allowance] = field(default_factory=dict)
    overrides: Mapping[Cell, Override] = field(default_factory=dict)
    """The newest of each cell."""


def learners_of(section: SectionId, people: Iterable[AccountId] | None = None) -> Select[tuple[str, str]]:
    """A query for the account and the learner of each learner in the section; of `people` alone, if they are given.

    Somebody who is only invited is not in it: nobody gets rights over an account by adding it.
    """
    query = (
        select(accounts.c.id, accounts.c.learner)
        .join(memberships, memberships.c.account == accounts.c.id)
        .where(memberships.c.section == section, memberships.c.role == Role.LEARNER.value)
        .where(memberships.c.status.in_((ACTIVE, DROPPED, LEFT)))
    )
    return query if people is None else query.where(accounts.c.id.in_(list(people)))


def read_class_work(
    connection: Connection,
    section: SectionId,
    assigned: Sequence[Assignment],
    people: Iterable[AccountId] | None = None,
) -> ClassWork:
    """The work of all learners of the section, or of `people` among them, for `assigned` of its assignments."""
    chosen = learners_of(section, people)
    who = {row.learner: AccountId(row.id) for row in fetch(connection, chosen)}
    learners = chosen.with_only_columns(accounts.c.learner)
    found: dict[Cell, list[HandedIn]] = defaultdict(list)
    for read in (_read_exercises, _read_answers, _read_predictions):
        for assignment, learner, one in read(connection, assigned, learners):
            found[assignment, who[learner]].append(one)
    ids, accounts_of = [one.id for one in assigned], frozenset(who.values())
    return ClassWork(
        found, _read_allowances(connection, ids, accounts_of), _read_overrides(connection, ids, accounts_of)
    )


def count_handed_in(connection: Connection, section: SectionId, assigned: Sequence[Assignment]) -> dict[str, int]:
    """By assignment, how many of the section's active learners have handed in anything for it."""
    chosen = learners_of(section).where(memberships.c.status == ACTIVE).with_only_columns(accounts.c.learner)
    counted: dict[Kind, Mapping[str, int]] = {
        Kind.EXERCISE: count_who_tried(connection, _targets(assigned, Kind.EXERCISE).keys(), chosen)
    }
    for kind, table, condition in (
        (Kind.RETRIEVAL, answers, ~answers.c.in_review),
        (Kind.PREDICTIONS, predictions, true()),
    ):
        query = (
            select(table.c.chapter, func.count(table.c.learner.distinct()))
            .where(table.c.learner.in_(chosen), table.c.chapter.in_(_targets(assigned, kind).keys()), condition)
            .group_by(table.c.chapter)
        )
        counted[kind] = {chapter: number for chapter, number in connection.execute(query)}
    return {one.id: counted[one.kind].get(one.target, 0) for one in assigned}


Found = Iterable[tuple[str, str, HandedIn]]
"""An assignment's id, the learner, and what they handed in."""


def _targets(assigned: Iterable[Assignment], kind: Kind) -> dict[str, Assignment]:
    return {one.target: one for one in assigned if one.kind is kind}


def _read_exercises(connection: Connection, assigned: Sequence[Assignment], learners: Select[tuple[str]]) -> Found:
    targets = _targets(assigned, Kind.EXERCISE)
    if not targets:
        return
    counting = find_counting(connection, [one.id for one in targets.values()])
    for one in read_graded(connection, targets.keys(), learners):
        regraded = counting.get(SubmissionId(one.id)) if counting else None
        earned = regraded.earned if regraded else share(one.outcome, one.cases_passed, one.cases_total)
        yield targets[one.exercise].id, one.learner, HandedIn(moment(one.submitted_at), earned, "", one.id)


def _read_answers(connection: Connection, assigned: Sequence[Assignment], learners: Select[tuple[str]]) -> Found:
    """Answers given in review are practice, and count nothing."""
    targets = _targets(assigned, Kind.RETRIEVAL)
    if not targets:
        return
    row = answers.c
    query = (
        select(row.number, row.learner, row.chapter, row.question, row.answered_at, row.correct, row.ticked)
        .where(row.learner.in_(learners), row.chapter.in_(targets.keys()), ~row.in_review)
        .order_by(row.number)
    )
    for number, learner, chapter, question, answered_at, correct, ticked in connection.execute(query):
        assignment = targets[chapter]
        # Only an open answer has ticks. They are its learner's own judgement, so that having compared is what counts.
        earned = float(bool(correct) or ticked is not None or assignment.counts is Counts.DONE)
        yield assignment.id, learner, HandedIn(moment(answered_at), earned, question, str(number))


def _read_predictions(connection: Connection, assigned: Sequence[Assignment], learners: Select[tuple[str]]) -> Found:
    targets = _targets(assigned, Kind.PREDICTIONS)
    if not targets:
        return
    row = predictions.c
    query = (
        select(row.learner, row.chapter, row.predict, row.committed_at)
        .where(row.learner.in_(learners), row.chapter.in_(targets.keys()))
        .order_by(row.committed_at)
    )
    for learner, chapter, predict, committed_at in connection.execute(query):
        yield targets[chapter].id, learner, HandedIn(moment(committed_at), 1.0, predict)


def _read_allowances(
    connection: Connection, ids: Sequence[str], people: frozenset[AccountId]
) -> dict[Cell, Allowance]:
    rows = fetch(connection, select(allowances).where(allowances.c.assignment.in_(ids)))
    return {
        (row.assignment, AccountId(row.account)): Allowance(
            optional_moment(row.due_at), optional_moment(row.closes_at), row.attempts, row.excused, row.reason
        )
        for row in rows
        if row.account in people
    }


def _read_overrides(connection: Connection, ids: Sequence[str], people: frozenset[AccountId]) -> dict[Cell, Override]:
    rows = fetch(connection, select(overrides).where(overrides.c.assignment.in_(ids)).order_by(overrides.c.number))
    return {
        (row.assignment, AccountId(row.account)): Override(row.points, row.reason)
        for row in rows
        if row.account in people
    }
