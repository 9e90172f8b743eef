"""What learners leave behind: written in one transaction each, read as frozen records. The only SQL of the website.

A learner's row comes into being with the first thing worth keeping. Times come in as arguments.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Table, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from app.course.marking import Given
from app.storage.records import NOTHING_YET, Answer, ChapterHistory, Prediction, Reading
from app.storage.tables import answers, cell_runs, drafts, hints, learners, metadata, predictions, readings
from graders.contract.model import LearnerId
from graders.ledger.database import Database


class Store:
    """The door to the website's rows, over the ledger's two engines."""

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
        async with self._database.write() as connection:
            await _meet(connection, learner, prediction.committed_at)
            return await _insert_new(connection, predictions, row)

    async def resolve_predictions(
        self, learner: LearnerId, chapter: str, predicts: Sequence[str], now: datetime
    ) -> None:
        """Mark committed predictions as settled; those settled before keep their time."""
        mine = (predictions.c.learner == learner) & (predictions.c.chapter == chapter)
        open_ones = predictions.c.predict.in_(predicts) & predictions.c.resolved_at.is_(None)
        async with self._database.write() as connection:
            await connection.execute(update(predictions).where(mine, open_ones).values(resolved_at=now.timestamp()))

    async def add_answer(self, learner: LearnerId, chapter: str, answer: Answer) -> None:
        row = {
            "learner": learner,
            "chapter": chapter,
            "question": answer.question,
            "given": _dump_given(answer.given),
            "held": answer.held,
            "answered_at": answer.answered_at.timestamp(),
        }
        async with self._database.write() as connection:
            await _meet(connection, learner, answer.answered_at)
            await connection.execute(answers.insert().values(row))

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
        async with self._database.write() as connection:
            changed = await connection.execute(
                update(answers).where(answers.c.number == newest).values(ticked=json.dumps(ticked), held=held)
            )
        return changed.rowcount == 1

    async def save_draft(self, learner: LearnerId, place: str, text: str, now: datetime) -> None:
        row = {"learner": learner, "place": place, "text": text, "saved_at": now.timestamp()}
        async with self._database.write() as connection:
            await _meet(connection, learner, now)
            await _insert_or_change(connection, drafts, row)

    async def drafts(self, learner: LearnerId, prefix: str) -> Mapping[str, str]:
        """Drafts by place, of the places that start with `prefix`."""
        statement = select(drafts.c.place, drafts.c.text).where(
            drafts.c.learner == learner, drafts.c.place.startswith(prefix, autoescape=True)
        )
        async with self._database.read() as connection:
            return {row.place: row.text for row in await connection.execute(statement)}

    async def note_cell_run(self, learner: LearnerId, chapter: str, cell: str, run: str, now: datetime) -> None:
        row = {"id": run, "learner": learner, "chapter": chapter, "cell": cell, "started_at": now.timestamp()}
        async with self._database.write() as connection:
            await _meet(connection, learner, now)
            await _insert_new(connection, cell_runs, row)

    async def find_cell_run(self, learner: LearnerId, run: str) -> tuple[str, str] | None:
        """Chapter and cell of a run of this learner's, or None."""
        statement = select(cell_runs.c.chapter, cell_runs.c.cell).where(
            cell_runs.c.id == run, cell_runs.c.learner == learner
        )
        async with self._database.read() as connection:
            row = (await connection.execute(statement)).one_or_none()
        return None if row is None else (row.chapter, row.cell)

    async def keep_place(self, learner: LearnerId, chapter: str, anchor: str, now: datetime) -> None:
        row = {"learner": learner, "chapter": chapter, "anchor": anchor, "seen_at": now.timestamp()}
        async with self._database.write() as connection:
            await _meet(connection, learner, now)
            await _insert_or_change(connection, readings, row)

    async def finish_reading(self, learner: LearnerId, chapter: str, now: datetime) -> None:
        row = {
            "learner": learner,
            "chapter": chapter,
            "anchor": "",
            "seen_at": now.timestamp(),
            "finished_at": now.timestamp(),
        }
        async with self._database.write() as connection:
            await _meet(connection, learner, now)
            await _insert_or_change(connection, readings, row)

    async def last_reading(self, learner: LearnerId) -> tuple[str, str] | None:
        """Chapter and anchor of the place that this learner read last, or None."""
        statement = (
            select(readings.c.chapter, readings.c.anchor)
            .where(readings.c.learner == learner)
            .order_by(readings.c.seen_at.desc())
            .limit(1)
        )
        async with self._database.read() as connection:
            row = (await connection.execute(statement)).one_or_none()
        return None if row is None else (row.chapter, row.anchor)

    async def open_hint(self, learner: LearnerId, exercise: str, number: int, now: datetime) -> None:
        row = {"learner": learner, "exercise": exercise, "number": number, "opened_at": now.timestamp()}
        async with self._database.write() as connection:
            await _meet(connection, learner, now)
            await _insert_new(connection, hints, row)

    async def hints_opened(self, learner: LearnerId, exercise: str) -> int:
        """How many hints are open: they open in order."""
        statement = select(hints.c.number).where(hints.c.learner == learner, hints.c.exercise == exercise)
        async with self._database.read() as connection:
            return len((await connection.execute(statement)).all())

    async def history(self, learner: LearnerId, chapter: str) -> ChapterHistory:
        return (await self._histories(learner, chapter)).get(chapter, NOTHING_YET)

    async def histories(self, learner: LearnerId) -> Mapping[str, ChapterHistory]:
        """By chapter; a chapter in which nothing was done is missing."""
        return await self._histories(learner, None)

    async def _histories(self, learner: LearnerId, chapter: str | None) -> Mapping[str, ChapterHistory]:
        async with self._database.read() as connection:
            found = {
                table.name: _by_chapter((await connection.execute(_mine(table, learner, chapter))).all())
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

    async def export(self, learner: LearnerId) -> dict[str, list[dict[str, Any]]]:
        """Every row that is kept about a learner, by table; times as ISO 8601."""
        exported = {}
        async with self._database.read() as connection:
            for table in metadata.sorted_tables:
                key = table.c.id if table is learners else table.c.learner
                rows = (await connection.execute(select(table).where(key == learner))).mappings()
                exported[table.name] = [_readable(dict(row)) for row in rows]
        return exported

    async def forget(self, learner: LearnerId) -> None:
        """Delete the learner; every row of theirs goes with it."""
        async with self._database.write() as connection:
            await connection.execute(delete(learners).where(learners.c.id == learner))


async def _meet(connection: AsyncConnection, learner: LearnerId, now: datetime) -> None:
    await _insert_new(connection, learners, {"id": learner, "created_at": now.timestamp()})


def _insert(connection: AsyncConnection, table: Table) -> "sqlite.Insert | postgresql.Insert":
    """Both databases know ON CONFLICT, and SQLAlchemy has it in their dialects only."""
    return sqlite.insert(table) if connection.dialect.name == "sqlite" else postgresql.insert(table)


async def _insert_new(connection: AsyncConnection, table: Table, row: dict[str, Any]) -> bool:
    """Insert unless the key is taken; True when it was inserted."""
    result = await connection.execute(_insert(connection, table).values(row).on_conflict_do_nothing())
    return result.rowcount == 1


async def _insert_or_change(connection: AsyncConnection, table: Table, row: dict[str, Any]) -> None:
    """Insert, or change the columns that `row` names."""
    keys = [column.name for column in table.primary_key]
    changed = {name: value for name, value in row.items() if name not in keys}
    statement = _insert(connection, table).values(row)
    await connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=changed))


def _mine(table: Table, learner: LearnerId, chapter: str | None) -> Any:
    """Rows of a learner, of one chapter or of all, oldest first where that means something."""
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
    return json.dumps({"values": given.values, "text": given.text, "node_names": given.node_names})


def _load_given(text: str) -> Given:
    kept = json.loads(text)
    return Given(tuple(kept["values"]), kept["text"], tuple(kept["node_names"]))


def _readable(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _moment(value).isoformat() if name.endswith("_at") and value is not None else value
        for name, value in row.items()
    }
