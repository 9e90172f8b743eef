"""What learners leave behind: written in one transaction each, read as frozen records. The only SQL of the website.

A learner's row comes into being with the first thing worth keeping. Times come in as arguments.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Delete, Row, Select, Table, Update, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from app.course.marking import Given
from app.storage.records import NOTHING_YET, Answer, ChapterHistory, Prediction, Reading
from app.storage.tables import answers, cell_runs, drafts, hints, learners, metadata, predictions, readings
from graders.contract.model import LearnerId
from graders.ledger.database import Database


class Store:
    """The door to the website's rows. Each method is one transaction, or one read, in a thread of the database's."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def commit_prediction(self, learner: LearnerId, chapter: str, prediction: Prediction) -> bool:
        """Keep a prediction. False when one was already committed: that one stands."""
        row = {
            "learner": learner,
            "chapter": chapter,
            "predict": prediction.predict,
            "option": prediction.option,
            "confidence": prediction.confidence,
            "committed_at": prediction.committed_at.timestamp(),
        }
        return await self._database.write(_add, predictions, row, prediction.committed_at)

    async def resolve_predictions(
        self, learner: LearnerId, chapter: str, predicts: Sequence[str], now: datetime
    ) -> None:
        """Mark committed predictions as settled; those settled before keep their time."""
        mine = (predictions.c.learner == learner) & (predictions.c.chapter == chapter)
        open_ones = predictions.c.predict.in_(predicts) & predictions.c.resolved_at.is_(None)
        statement = update(predictions).where(mine, open_ones).values(resolved_at=now.timestamp())
        await self._database.write(_change, statement)

    async def add_answer(self, learner: LearnerId, chapter: str, answer: Answer) -> None:
        row = {
            "learner": learner,
            "chapter": chapter,
            "question": answer.question,
            "given": _dump_given(answer.given),
            "held": answer.held,
            "answered_at": answer.answered_at.timestamp(),
        }
        await self._database.write(_add, answers, row, answer.answered_at)

    async def rate_answer(
        self, learner: LearnerId, chapter: str, question: str, ticked: Sequence[str], held: bool
    ) -> bool:
        """Hold the last answer to an open question against its rubric. False when there is none."""
        newest = (
            select(answers.c.number)
            .where(answers.c.learner == learner, answers.c.chapter == chapter, answers.c.question == question)
            .order_by(answers.c.number.desc())
            .limit(1)
            .scalar_subquery()
        )
        statement = update(answers).where(answers.c.number == newest)
        return await self._database.write(_change, statement.values(ticked=json.dumps(ticked), held=held)) == 1

    async def save_draft(self, learner: LearnerId, place: str, text: str, now: datetime) -> None:
        row = {"learner": learner, "place": place, "text": text, "saved_at": now.timestamp()}
        await self._database.write(_put, drafts, row, now)

    async def drafts(self, learner: LearnerId, prefix: str) -> Mapping[str, str]:
        """Drafts by place, of the places that start with `prefix`."""
        mine = drafts.c.learner == learner
        there = drafts.c.place.startswith(prefix, autoescape=True)
        rows = await self._database.read(_fetch, select(drafts.c.place, drafts.c.text).where(mine, there))
        return {row.place: row.text for row in rows}

    async def note_cell_run(self, learner: LearnerId, chapter: str, cell: str, run: str, now: datetime) -> None:
        row = {"id": run, "learner": learner, "chapter": chapter, "cell": cell, "started_at": now.timestamp()}
        await self._database.write(_add, cell_runs, row, now)

    async def find_cell_run(self, learner: LearnerId, run: str) -> tuple[str, str] | None:
        """Chapter and cell of a run of this learner's, or None."""
        mine = (cell_runs.c.id == run) & (cell_runs.c.learner == learner)
        rows = await self._database.read(_fetch, select(cell_runs.c.chapter, cell_runs.c.cell).where(mine))
        return next(((row.chapter, row.cell) for row in rows), None)

    async def keep_place(self, learner: LearnerId, chapter: str, anchor: str, now: datetime) -> None:
        row = {"learner": learner, "chapter": chapter, "anchor": anchor, "seen_at": now.timestamp()}
        await self._database.write(_put, readings, row, now)

    async def finish_reading(self, learner: LearnerId, chapter: str, now: datetime) -> None:
        times = {"seen_at": now.timestamp(), "finished_at": now.timestamp()}
        row = {"learner": learner, "chapter": chapter, "anchor": "", **times}
        await self._database.write(_put, readings, row, now)

    async def last_reading(self, learner: LearnerId) -> tuple[str, str] | None:
        """Chapter and anchor of the place that this learner read last, or None."""
        statement = select(readings.c.chapter, readings.c.anchor).where(readings.c.learner == learner)
        rows = await self._database.read(_fetch, statement.order_by(readings.c.seen_at.desc()).limit(1))
        return next(((row.chapter, row.anchor) for row in rows), None)

    async def open_hint(self, learner: LearnerId, exercise: str, number: int, now: datetime) -> None:
        row = {"learner": learner, "exercise": exercise, "number": number, "opened_at": now.timestamp()}
        await self._database.write(_add, hints, row, now)

    async def hints_opened(self, learner: LearnerId, exercise: str) -> int:
        """How many hints are open: they open in order."""
        mine = (hints.c.learner == learner) & (hints.c.exercise == exercise)
        return len(await self._database.read(_fetch, select(hints.c.number).where(mine)))

    async def history(self, learner: LearnerId, chapter: str) -> ChapterHistory:
        histories = await self._database.read(_read_histories, learner, chapter)
        return histories.get(chapter, NOTHING_YET)

    async def histories(self, learner: LearnerId) -> Mapping[str, ChapterHistory]:
        """By chapter; a chapter in which nothing was done is missing."""
        return await self._database.read(_read_histories, learner, None)

    async def export(self, learner: LearnerId) -> dict[str, list[dict[str, Any]]]:
        """Every row that is kept about a learner, by table; times as ISO 8601."""
        return await self._database.read(_export, learner)

    async def forget(self, learner: LearnerId) -> None:
        """Delete the learner; every row of theirs goes with it."""
        await self._database.write(_change, delete(learners).where(learners.c.id == learner))


def _fetch(connection: Connection, statement: Select[Any]) -> Sequence[Row[Any]]:
    return connection.execute(statement).all()


def _change(connection: Connection, statement: Update | Delete) -> int:
    """How many rows it changed."""
    return connection.execute(statement).rowcount


def _add(connection: Connection, table: Table, row: dict[str, Any], now: datetime) -> bool:
    """Insert a learner's row unless its key is taken; True when it was inserted."""
    _insert_new(connection, learners, {"id": row["learner"], "created_at": now.timestamp()})
    return _insert_new(connection, table, row)


def _put(connection: Connection, table: Table, row: dict[str, Any], now: datetime) -> None:
    """Insert a learner's row, or change the columns that `row` names."""
    _insert_new(connection, learners, {"id": row["learner"], "created_at": now.timestamp()})
    keys = [column.name for column in table.primary_key]
    changed = {name: value for name, value in row.items() if name not in keys}
    statement = _insert(connection, table).values(row)
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=changed))


def _insert_new(connection: Connection, table: Table, row: dict[str, Any]) -> bool:
    return connection.execute(_insert(connection, table).values(row).on_conflict_do_nothing()).rowcount == 1


def _insert(connection: Connection, table: Table) -> "sqlite.Insert | postgresql.Insert":
    """Both databases know ON CONFLICT, and SQLAlchemy has it in their dialects only."""
    return sqlite.insert(table) if connection.dialect.name == "sqlite" else postgresql.insert(table)


def _read_histories(connection: Connection, learner: LearnerId, chapter: str | None) -> Mapping[str, ChapterHistory]:
    """Of one chapter, or of all."""
    found = {
        table.name: _by_chapter(_fetch(connection, _mine(table, learner, chapter)))
        for table in (predictions, answers, cell_runs, readings)
    }
    return {
        name: ChapterHistory(
            predictions={row.predict: _prediction(row) for row in found["predictions"][name]},
            answers=tuple(_answer(row) for row in found["answers"][name]),
            cell_runs={row.cell: row.id for row in found["cell_runs"][name]},
            reading=next((_reading(row) for row in found["readings"][name]), None),
        )
        for name in {name for rows in found.values() for name in rows}
    }


def _mine(table: Table, learner: LearnerId, chapter: str | None) -> Select[Any]:
    """Rows of a learner, of one chapter or of all, oldest first where that means something."""
    conditions: list[ColumnElement[bool]] = [table.c.learner == learner]
    if chapter is not None:
        conditions.append(table.c.chapter == chapter)
    order = {"answers": answers.c.number, "cell_runs": cell_runs.c.started_at}.get(table.name, table.c.chapter)
    return select(table).where(*conditions).order_by(order)


def _export(connection: Connection, learner: LearnerId) -> dict[str, list[dict[str, Any]]]:
    exported = {}
    for table in metadata.sorted_tables:
        key = table.c.id if table is learners else table.c.learner
        rows = connection.execute(select(table).where(key == learner)).mappings()
        exported[table.name] = [_readable(dict(row)) for row in rows]
    return exported


def _by_chapter(rows: Sequence[Row[Any]]) -> dict[str, list[Row[Any]]]:
    grouped: dict[str, list[Row[Any]]] = defaultdict(list)
    for row in rows:
        grouped[row.chapter].append(row)
    return grouped


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _prediction(row: Row[Any]) -> Prediction:
    resolved_at = None if row.resolved_at is None else _moment(row.resolved_at)
    return Prediction(row.predict, row.option, row.confidence, _moment(row.committed_at), resolved_at)


def _answer(row: Row[Any]) -> Answer:
    ticked = None if row.ticked is None else tuple(json.loads(row.ticked))
    return Answer(row.question, _load_given(row.given), row.held, _moment(row.answered_at), ticked)


def _reading(row: Row[Any]) -> Reading:
    finished_at = None if row.finished_at is None else _moment(row.finished_at)
    return Reading(row.anchor, _moment(row.seen_at), finished_at)


def _dump_given(given: Given) -> str:
    drawn = {} if given.draw is None else {"draw": given.draw}
    return json.dumps({"values": given.values, "text": given.text, "node_names": given.node_names, **drawn})


def _load_given(text: str) -> Given:
    kept = json.loads(text)
    return Given(tuple(kept["values"]), kept["text"], tuple(kept["node_names"]), kept.get("draw"))


def _readable(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _moment(value).isoformat() if name.endswith("_at") and value is not None else value
        for name, value in row.items()
    }
