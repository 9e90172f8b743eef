"""Learners' work: each write is one transaction, and reads return frozen records. The website's only SQL.

A learner's row is created with the first thing worth keeping. Times are arguments.
"""

import asyncio
import contextlib
import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, Table, insert, select, update

from app.course.drills.drill import ANSWERS
from app.learning.review import Key, Rating
from app.storage.accounts import Accounts
from app.storage.assignments import Assignments
from app.storage.audit import Audit
from app.storage.calendars import Calendars
from app.storage.class_submissions import ClassSubmissions
from app.storage.comments import Comments
from app.storage.draft_key import DraftKey
from app.storage.drill_graphs import DrillGraphs, close_ask
from app.storage.erasing import empty_ended_sections
from app.storage.exporting import export
from app.storage.forgetting import end_audit, forget, sweep
from app.storage.gradebook import GradebookPeople
from app.storage.identities import Identities
from app.storage.knowledge import Knowledge
from app.storage.lti_courses import LtiCourses
from app.storage.lti_launches import LtiLaunches
from app.storage.lti_registrations import LtiRegistrations
from app.storage.lti_roster import LtiRosters
from app.storage.lti_scores import LtiScores
from app.storage.notes import Notes
from app.storage.overrides import Overrides
from app.storage.publications import Publications
from app.storage.rankings import Rankings
from app.storage.records import NOTHING_YET, Answer, ChapterHistory, Prediction, Reading
from app.storage.regraded import RegradedWork
from app.storage.regrades import Regrades
from app.storage.reports import Reports
from app.storage.review_cards import ReviewCards, keep_first_zone, renew_card
from app.storage.roster import Rosters
from app.storage.rows import dump_response, read_answer, read_prediction, read_reading
from app.storage.sections import Sections
from app.storage.sessions import Sessions
from app.storage.statements import change, fetch, insert_into, insert_new
from app.storage.tables import answers, cell_runs, drafts, hints, learners, predictions, readings
from app.storage.threads import Threads
from app.storage.viewings import Viewings
from graders.contract.model import LearnerId
from graders.ledger import StorageRefused
from graders.ledger.database import Database


class Store:
    """Reads and writes the website's rows. Each method is one transaction, or one read, in the database's thread."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.sessions = Sessions(database)
        self.accounts = Accounts(database)
        self.audit = Audit(database)
        self.sections = Sections(database)
        self.rosters = Rosters(database)
        self.assignments = Assignments(database)
        self.class_submissions = ClassSubmissions(database)
        self.rankings = Rankings(database)
        self.comments = Comments(database)
        self.viewings = Viewings(database)
        self.identities = Identities(database)
        self.drill_graphs = DrillGraphs(database)
        self.review_cards = ReviewCards(database)
        self.calendars = Calendars(database)
        self.reports = Reports(database)
        self.notes = Notes(database)
        self.gradebook = GradebookPeople(database)
        self.overrides = Overrides(database)
        self.regrades = Regrades(database)
        self.regraded = RegradedWork(database)
        self.lti_registrations = LtiRegistrations(database)
        self.lti_launches = LtiLaunches(database)
        self.lti_courses = LtiCourses(database)
        self.lti_scores = LtiScores(database)
        self.lti_rosters = LtiRosters(database)
        self.threads = Threads(database)
        self.publications = Publications(database)
        self.knowledge = Knowledge(database)

    async def commit_prediction(self, learner: LearnerId, chapter: str, prediction: Prediction) -> bool:
        """Store a prediction. False if one was already committed, which then stays."""
        row = {
            "learner": learner,
            "chapter": chapter,
            "predict": prediction.predict,
            "option": prediction.option,
            "confidence": prediction.confidence,
            "committed_at": prediction.committed_at.timestamp(),
            "content_hash": prediction.content_hash,
            "course_version": prediction.course_version,
        }
        return await self._database.write(_add, predictions, row, prediction.committed_at)

    async def resolve_predictions(
        self, learner: LearnerId, chapter: str, ratings: Mapping[str, Rating], now: datetime
    ) -> None:
        """Mark committed predictions as settled, by id; those already settled keep their time and rating."""
        await self._database.write(_resolve, learner, chapter, ratings, now)

    async def add_answer(self, learner: LearnerId, chapter: str, answer: Answer, zone: str = "") -> int:
        """Store an attempt, and renew its question's review card; returns the number that names the answer.

        `zone` is the IANA name of the browser's time zone, if it sent one.
        """
        row = _answer_row(learner, chapter, answer)
        return await self._database.write(_add_answer, row, answer.answered_at, zone)

    async def add_answer_once(
        self, learner: LearnerId, chapter: str, answer: Answer, begun: datetime, earlier: int
    ) -> int:
        """Store an answer in review, unless its form was sent before; returns the number of the one that counts.

        `earlier` is how many answers to this question there were in review since `begun` when its form was made.
        """
        row = _answer_row(learner, chapter, answer)
        return await self._database.write(_add_answer_once, row, answer.answered_at, begun, earlier)

    async def answer_drill(self, learner: LearnerId, graph: str, answer: Answer) -> int | None:
        """Store the answer to a drawn graph, and close the graph; returns the answer's number.

        None if the learner had answered before, or was not asked; then nothing changed.
        """
        row = _answer_row(learner, ANSWERS, answer)
        return await self._database.write(_answer_drill, row, answer.answered_at, graph)

    async def rate_answer(
        self,
        learner: LearnerId,
        chapter: str,
        question: str,
        ticked: Sequence[str],
        correct: bool,
        rating: Rating,
        number: int | None = None,
    ) -> bool:
        """Store the rubric's ticks for the answer `number`, or else for the last one. False if there is no answer."""
        values = {"ticked": json.dumps(ticked), "correct": correct, "rating": int(rating)}
        return await self._database.write(_rate_answer, learner, Key(chapter, question), number, values)

    async def save_draft(self, learner: LearnerId, key: DraftKey, text: str, now: datetime) -> None:
        row = {"learner": learner, "key": key, "text": text, "saved_at": now.timestamp()}
        await self._database.write(_put, drafts, row, now)

    async def replace_draft(self, learner: LearnerId, key: DraftKey, text: str, over: str, now: datetime) -> bool:
        """Save a draft only if the stored one is `over` or `text`, or there is none; whether it was saved."""
        row = {"learner": learner, "key": key, "text": text, "saved_at": now.timestamp()}
        return await self._database.write(_replace_draft, row, over, now)

    async def drafts(self, learner: LearnerId, prefix: str) -> Mapping[DraftKey, str]:
        """Drafts by key, for the keys that start with `prefix`."""
        mine = drafts.c.learner == learner
        there = drafts.c.key.startswith(prefix, autoescape=True)
        rows = await self._database.read(fetch, select(drafts.c.key, drafts.c.text).where(mine, there))
        return {DraftKey(row.key): row.text for row in rows}

    async def note_cell_run(self, learner: LearnerId, chapter: str, cell: str, run: str, now: datetime) -> None:
        row = {"id": run, "learner": learner, "chapter": chapter, "cell": cell, "started_at": now.timestamp()}
        await self._database.write(_add, cell_runs, row, now)

    async def find_cell_run(self, learner: LearnerId, run: str) -> tuple[str, str] | None:
        """Chapter and cell of this learner's run, or None."""
        mine = (cell_runs.c.id == run) & (cell_runs.c.learner == learner)
        rows = await self._database.read(fetch, select(cell_runs.c.chapter, cell_runs.c.cell).where(mine))
        return next(((row.chapter, row.cell) for row in rows), None)

    async def keep_position(self, learner: LearnerId, chapter: str, anchor: str, now: datetime) -> None:
        row = {"learner": learner, "chapter": chapter, "anchor": anchor, "seen_at": now.timestamp()}
        await self._database.write(_put, readings, row, now)

    async def finish_reading(self, learner: LearnerId, chapter: str, now: datetime) -> None:
        times = {"seen_at": now.timestamp(), "finished_at": now.timestamp()}
        row = {"learner": learner, "chapter": chapter, "anchor": "", **times}
        await self._database.write(_put, readings, row, now)

    async def readings(self, learner: LearnerId) -> Mapping[str, Reading]:
        """The learner's place in each chapter that they opened, by chapter, the one read last first."""
        statement = select(readings).where(readings.c.learner == learner).order_by(readings.c.seen_at.desc())
        return {row.chapter: read_reading(row) for row in await self._database.read(fetch, statement)}

    async def open_hint(self, learner: LearnerId, exercise: str, number: int, now: datetime) -> None:
        row = {"learner": learner, "exercise": exercise, "number": number, "opened_at": now.timestamp()}
        await self._database.write(_add, hints, row, now)

    async def hints_opened(self, learner: LearnerId, exercise: str) -> int:
        """How many hints are open; they open in order."""
        mine = (hints.c.learner == learner) & (hints.c.exercise == exercise)
        return len(await self._database.read(fetch, select(hints.c.number).where(mine)))

    async def history(self, learner: LearnerId, chapter: str) -> ChapterHistory:
        histories = await self._database.read(_read_histories, learner, chapter)
        return histories.get(chapter, NOTHING_YET)

    async def histories(self, learner: LearnerId) -> Mapping[str, ChapterHistory]:
        """Histories by chapter; a chapter without any work is missing."""
        return await self._database.read(_read_histories, learner, None)

    async def forget_unreachable(self, now: datetime) -> int:
        """Delete expired sessions, and some of the learners who have no session left; returns how many learners."""
        return await self._database.write(sweep, now)

    async def end_audit(self, before: datetime) -> int:
        """Delete the lines of the audit that are older; returns how many."""
        return await self._database.write(end_audit, before)

    async def empty_ended_sections(self, now: datetime, months: int) -> int:
        """Take the people out of the sections that ended so many months ago; returns out of how many."""
        return await self._database.write(empty_ended_sections, now, months)

    async def keep_sweeping(
        self, clock: Callable[[], datetime], every_seconds: float, audit_days: int, section_months: int
    ) -> None:
        """Sweep until cancelled. After StorageRefused, the next sweep tries again."""
        while True:
            await asyncio.sleep(every_seconds)
            with contextlib.suppress(StorageRefused):
                await self.forget_unreachable(clock())
                await self.end_audit(clock() - timedelta(days=audit_days))
                if section_months:
                    await self.empty_ended_sections(clock(), section_months)

    async def export(self, learner: LearnerId) -> dict[str, list[dict[str, Any]]]:
        """Every row about a learner, by table; times as ISO 8601."""
        return await self._database.read(export, learner)

    async def forget(self, learner: LearnerId) -> None:
        """Delete the learner with all their rows, including submissions and sessions, in one transaction."""
        await self._database.write(forget, learner)


def _add(connection: Connection, table: Table, row: dict[str, Any], now: datetime) -> bool:
    """Insert a learner's row unless its key is taken; True when it was inserted."""
    insert_new(connection, learners, {"id": row["learner"], "created_at": now.timestamp()})
    return insert_new(connection, table, row)


def _resolve(
    connection: Connection, learner: LearnerId, chapter: str, ratings: Mapping[str, Rating], now: datetime
) -> None:
    mine = (predictions.c.learner == learner) & (predictions.c.chapter == chapter)
    for predict, rating in ratings.items():
        this = mine & (predictions.c.predict == predict) & predictions.c.resolved_at.is_(None)
        settled = update(predictions).where(this).values(resolved_at=now.timestamp(), rating=int(rating))
        if change(connection, settled):
            renew_card(connection, learner, Key(chapter, predict))


def _answer_row(learner: LearnerId, chapter: str, answer: Answer) -> dict[str, Any]:
    return {
        "learner": learner,
        "chapter": chapter,
        "question": answer.question,
        "response": dump_response(answer.response),
        "correct": answer.correct,
        "answered_at": answer.answered_at.timestamp(),
        "content_hash": answer.content_hash,
        "course_version": answer.course_version,
        "confidence": answer.confidence,
        "rating": answer.rating,
        "in_review": answer.in_review,
    }


def _add_answer(connection: Connection, row: dict[str, Any], now: datetime, zone: str) -> int:
    learner = LearnerId(row["learner"])
    insert_new(connection, learners, {"id": learner, "created_at": now.timestamp()})
    number: int = connection.execute(insert(answers).values(row).returning(answers.c.number)).scalar_one()
    keep_first_zone(connection, learner, zone)
    renew_card(connection, learner, Key(row["chapter"], row["question"]))
    return number


def _add_answer_once(
    connection: Connection, row: dict[str, Any], now: datetime, begun: datetime, earlier: int
) -> int:
    same = (answers.c.learner == row["learner"]) & (answers.c.chapter == row["chapter"])
    same &= (answers.c.question == row["question"]) & answers.c.in_review
    same &= answers.c.answered_at >= begun.timestamp()
    numbers = [
        each.number for each in fetch(connection, select(answers.c.number).where(same).order_by(answers.c.number))
    ]
    return numbers[earlier] if earlier < len(numbers) else _add_answer(connection, row, now, "")


def _answer_drill(connection: Connection, row: dict[str, Any], now: datetime, graph: str) -> int | None:
    is_first = close_ask(connection, LearnerId(row["learner"]), graph, now)
    return _add_answer(connection, row, now, "") if is_first else None


def _rate_answer(
    connection: Connection, learner: LearnerId, key: Key, number: int | None, values: dict[str, Any]
) -> bool:
    mine = (answers.c.learner == learner) & (answers.c.chapter == key.chapter) & (answers.c.question == key.question)
    if number is not None:
        mine &= answers.c.number == number
    newest = select(answers.c.number).where(mine).order_by(answers.c.number.desc()).limit(1).scalar_subquery()
    rated = change(connection, update(answers).where(answers.c.number == newest).values(values)) == 1
    if rated:
        renew_card(connection, learner, key)
    return rated


def _put(connection: Connection, table: Table, row: dict[str, Any], now: datetime) -> None:
    """Insert a learner's row, or change the columns that `row` names."""
    insert_new(connection, learners, {"id": row["learner"], "created_at": now.timestamp()})
    keys = [column.name for column in table.primary_key]
    changed = {name: value for name, value in row.items() if name not in keys}
    statement = insert_into(connection, table).values(row)
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=changed))


def _replace_draft(connection: Connection, row: dict[str, Any], over: str, now: datetime) -> bool:
    mine = (drafts.c.learner == row["learner"]) & (drafts.c.key == row["key"])
    stored = connection.execute(select(drafts.c.text).where(mine)).scalar()
    # A page shows a text without its last line breaks.
    if stored is not None and stored.rstrip("\n") not in (over.rstrip("\n"), row["text"].rstrip("\n")):
        return False
    _put(connection, drafts, row, now)
    return True


def _read_histories(connection: Connection, learner: LearnerId, chapter: str | None) -> Mapping[str, ChapterHistory]:
    """The histories of one chapter, or of all."""
    found = {
        table.name: _by_chapter(fetch(connection, _mine(table, learner, chapter)))
        for table in (predictions, answers, cell_runs, readings)
    }
    return {
        name: ChapterHistory(
            predictions={row.predict: read_prediction(row) for row in found["predictions"][name]},
            answers=tuple(read_answer(row) for row in found["answers"][name]),
            cell_runs={row.cell: row.id for row in found["cell_runs"][name]},
            reading=next((read_reading(row) for row in found["readings"][name]), None),
        )
        for name in {name for rows in found.values() for name in rows}
    }


def _mine(table: Table, learner: LearnerId, chapter: str | None) -> Select[Any]:
    """A learner's rows, of one chapter or of all, oldest first if the table has a time."""
    conditions: list[ColumnElement[bool]] = [table.c.learner == learner]
    if chapter is not None:
        conditions.append(table.c.chapter == chapter)
    order = {"answers": answers.c.number, "cell_runs": cell_runs.c.started_at}.get(table.name, table.c.chapter)
    return select(table).where(*conditions).order_by(order)


def _by_chapter(rows: Sequence[Row[Any]]) -> dict[str, list[Row[Any]]]:
    grouped: dict[str, list[Row[Any]]] = defaultdict(list)
    for row in rows:
        grouped[row.chapter].append(row)
    return grouped
