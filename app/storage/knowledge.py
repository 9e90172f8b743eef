"""What a section's present learners answered, read and handed in, as rows for statistics. Never with a name.

Every query names the section. Staff, and learners who were dropped or left, are not in it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import Column, ColumnElement, Connection, Select, distinct, func, select, true

from app.access.permissions import Role
from app.storage.audit import Actor, write_line
from app.storage.records import SectionId
from app.storage.statements import fetch, moment
from app.storage.tables import (
    ACTIVE,
    accounts,
    answers,
    cell_runs,
    memberships,
    predictions,
    readings,
    reports,
)
from graders.contract.results import Outcome, Verdict
from graders.ledger.database import Database
from graders.ledger.queries import NO_ATTEMPT
from graders.ledger.stored import read_result
from graders.ledger.tables import finished, is_graded, submissions


class FirstResponse(NamedTuple):
    """A learner's first answer to a question, or their prediction. `right` is None where only the learner knows.

    `options` are the ids of the chosen options. `content_hash` names the wording that was answered.
    """

    learner: str
    chapter: str
    item: str
    right: bool | None
    options: tuple[str, ...]
    confidence: str | None
    content_hash: str
    at: datetime


class Reading(NamedTuple):
    """Where a learner's reading is, or that it came to the end."""

    chapter: str
    anchor: str
    is_finished: bool


@dataclass(frozen=True)
class Activity:
    """How many present learners ran each cell of a chapter, and how many reports of each block are there."""

    ran: Mapping[str, int]
    reported: Mapping[str, int]


class Counted(NamedTuple):
    """How many present learners gave the same first answer or prediction to an item, with the same confidence.

    An answer has `right`, None where only the learner knows; a prediction has the `option` that was chosen, if any.
    """

    chapter: str
    item: str
    right: bool | None
    option: str | None
    confidence: str | None
    times: int


@dataclass(frozen=True)
class Totals:
    """First answers and predictions, counted, and how many learners gave any in each chapter."""

    answers: tuple[Counted, ...]
    predictions: tuple[Counted, ...]
    answered: Mapping[str, int]
    predicted: Mapping[str, int]


class Effort(NamedTuple):
    """How a learner came to pass an exercise: with the how manieth attempt, and how long after the first.

    Both are None for somebody who has tried and not passed yet.
    """

    exercise: str
    attempts: int | None
    seconds: float | None


class Failure(NamedTuple):
    """A case that a learner's newest submission failed, with the code of its finding (or none) and its own id."""

    learner: str
    finding: str
    case: str
    submission: str
    at: datetime


class Knowledge:
    """Reads a class's answers. Each method is one read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def count_learners(self, section: SectionId) -> int:
        query = select(func.count()).select_from(_present(section).subquery())
        return int((await self._database.read(fetch, query))[0][0])

    async def answers(self, section: SectionId, chapter: str = "") -> tuple[FirstResponse, ...]:
        """First answers, of all chapters or of one. Answers given in review do not count."""
        return await self._database.read(_read_answers, section, chapter)

    async def predictions(self, section: SectionId, chapter: str = "") -> tuple[FirstResponse, ...]:
        """What was predicted. Whether it is right is the course's to say: `right` is None."""
        return await self._database.read(_read_predictions, section, chapter)

    async def readings(self, section: SectionId) -> tuple[Reading, ...]:
        return await self._database.read(_read_readings, section)

    async def activity(self, section: SectionId, chapter: str) -> Activity:
        """`reported` counts all reports of readers of this section, by block."""
        return await self._database.read(_read_activity, section, chapter)

    async def totals(self, section: SectionId) -> Totals:
        """All first answers and predictions as counts: a term has too many to read each for an overview."""
        return await self._database.read(_read_totals, section)

    async def efforts(self, section: SectionId, exercise: str = "") -> tuple[Effort, ...]:
        """One for each learner and each exercise that they tried, of all exercises or of one."""
        return await self._database.read(_read_efforts, section, exercise)

    async def failures(self, section: SectionId, exercise: str) -> tuple[Failure, ...]:
        """What the newest submission of each learner who has not passed yet failed."""
        return await self._database.read(_read_failures, section, exercise)

    async def note_download(self, section: SectionId, actor: Actor) -> None:
        """Write to the audit that somebody downloaded the answers."""
        await self._database.write(_note_download, section, actor)


def _present(section: SectionId) -> Select[tuple[str]]:
    return (
        select(accounts.c.learner)
        .join(memberships, memberships.c.account == accounts.c.id)
        .where(memberships.c.section == section, memberships.c.role == Role.LEARNER.value)
        .where(memberships.c.status == ACTIVE)
    )


def _only(column: "Column[Any]", wanted: str) -> tuple[ColumnElement[bool], ...]:
    return (column == wanted,) if wanted else ()


def _first_answers(section: SectionId, chapter: str = "") -> Select[tuple[int]]:
    row = answers.c
    given = (row.learner.in_(_present(section)), ~row.in_review, *_only(row.chapter, chapter))
    return select(func.min(row.number)).where(*given).group_by(row.learner, row.chapter, row.question)


def _read_answers(connection: Connection, section: SectionId, chapter: str) -> tuple[FirstResponse, ...]:
    row = answers.c
    columns = (row.learner, row.chapter, row.question, row.correct, row.response, row.confidence, row.content_hash)
    query = select(*columns, row.answered_at).where(row.number.in_(_first_answers(section, chapter)))
    return tuple(
        FirstResponse(
            learner=found.learner,
            chapter=found.chapter,
            item=found.question,
            right=found.correct,
            options=tuple(json.loads(found.response).get("values", ())),
            confidence=found.confidence,
            content_hash=found.content_hash or "",
            at=moment(found.answered_at),
        )
        for found in fetch(connection, query.order_by(row.number))
    )


def _read_predictions(connection: Connection, section: SectionId, chapter: str) -> tuple[FirstResponse, ...]:
    row = predictions.c
    query = select(predictions).where(row.learner.in_(_present(section)), *_only(row.chapter, chapter))
    return tuple(
        FirstResponse(
            learner=found.learner,
            chapter=found.chapter,
            item=found.predict,
            right=None,
            options=(found.option,) if found.option else (),
            confidence=found.confidence,
            content_hash=found.content_hash or "",
            at=moment(found.committed_at),
        )
        for found in fetch(connection, query.order_by(row.committed_at))
    )


def _read_readings(connection: Connection, section: SectionId) -> tuple[Reading, ...]:
    query = select(readings).where(readings.c.learner.in_(_present(section)))
    return tuple(
        Reading(found.chapter, found.anchor, found.finished_at is not None) for found in fetch(connection, query)
    )


def _read_activity(connection: Connection, section: SectionId, chapter: str) -> Activity:
    ran = (
        select(cell_runs.c.cell, func.count(distinct(cell_runs.c.learner)).label("learners"))
        .where(cell_runs.c.chapter == chapter, cell_runs.c.learner.in_(_present(section)))
        .group_by(cell_runs.c.cell)
    )
    reported = (
        select(reports.c.block, func.count().label("times"))
        .where(reports.c.page == f"chapters/{chapter}", reports.c.learner.in_(_present(section)))
        .group_by(reports.c.block)
    )
    return Activity(
        {row.cell: row.learners for row in fetch(connection, ran)},
        {row.block: row.times for row in fetch(connection, reported)},
    )


def _read_totals(connection: Connection, section: SectionId) -> Totals:
    given, guessed = answers.c, predictions.c
    is_first, is_present = given.number.in_(_first_answers(section)), guessed.learner.in_(_present(section))
    said = (given.chapter, given.question, given.correct, given.confidence)
    predicted = (guessed.chapter, guessed.predict, guessed.option, guessed.confidence)
    by_answer = select(*said, func.count()).where(is_first).group_by(*said)
    by_option = select(*predicted, func.count()).where(is_present).group_by(*predicted)
    return Totals(
        tuple(
            Counted(chapter, item, right, None, word, times)
            for chapter, item, right, word, times in connection.execute(by_answer)
        ),
        tuple(
            Counted(chapter, item, None, option, word, times)
            for chapter, item, option, word, times in connection.execute(by_option)
        ),
        _count_learners(connection, given.chapter, given.learner, ~given.in_review, section),
        _count_learners(connection, guessed.chapter, guessed.learner, true(), section),
    )


def _count_learners(
    connection: Connection,
    chapter: "Column[str]",
    learner: "Column[str]",
    condition: ColumnElement[bool],
    section: SectionId,
) -> dict[str, int]:
    query = select(chapter, func.count(distinct(learner))).where(learner.in_(_present(section)), condition)
    return {name: number for name, number in connection.execute(query.group_by(chapter))}


def _read_efforts(connection: Connection, section: SectionId, exercise: str) -> tuple[Effort, ...]:
    row = submissions.c
    query = (
        select(row.exercise, row.learner, row.submitted_at, row.outcome)
        .where(row.learner.in_(_present(section)), is_graded, finished, row.outcome.not_in(NO_ATTEMPT))
        # Naming the exercises leads SQLite to the index that has all of this: else it reads rows of some kilobytes.
        .where(row.exercise.in_([exercise] if exercise else select(row.exercise).where(is_graded, finished)))
        .order_by(row.exercise, row.learner, row.number)
    )
    by_learner = groupby(connection.execute(query), key=itemgetter(0, 1))
    return tuple(
        _find_effort(name, [(at, outcome) for _, _, at, outcome in tried]) for (name, _), tried in by_learner
    )


def _find_effort(exercise: str, tried: Sequence[tuple[float, str]]) -> Effort:
    """`tried` has the time and the outcome of each attempt, in their order."""
    for place, (at, outcome) in enumerate(tried, 1):
        if outcome == Outcome.PASSED:
            return Effort(exercise, place, at - tried[0][0])
    return Effort(exercise, None, None)


def _read_failures(connection: Connection, section: SectionId, exercise: str) -> tuple[Failure, ...]:
    row = submissions.c
    tried = (
        row.exercise == exercise,
        row.learner.in_(_present(section)),
        is_graded,
        finished,
        row.outcome.not_in(NO_ATTEMPT),
    )
    passed = select(row.learner).where(*tried, row.outcome == "passed")
    newest = select(func.max(row.number)).where(*tried, row.learner.not_in(passed)).group_by(row.learner)
    query = select(row.learner, row.id, row.submitted_at, row.result).where(row.number.in_(newest))
    failures = []
    for found in fetch(connection, query.order_by(row.number)):
        verdict = read_result(found.result)
        if isinstance(verdict, Verdict):
            at = moment(found.submitted_at)
            failures += [Failure(found.learner, *one, found.id, at) for one in _list_failed(verdict)]
    return tuple(failures)


def _list_failed(verdict: Verdict) -> list[tuple[str, str]]:
    """Finding and case of each failed case; of the whole where no case was reached."""
    failed = [
        (one.finding.code if one.finding else str(verdict.outcome), one.name)
        for one in verdict.cases
        if not one.passed
    ]
    whole = verdict.finding.code if verdict.finding else str(verdict.outcome)
    return failed or [(whole, "")]


def _note_download(connection: Connection, section: SectionId, actor: Actor) -> None:
    write_line(connection, actor, "download the class's answers", section, section=section)
