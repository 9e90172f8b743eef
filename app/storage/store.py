"""Learners' work: each write is one transaction, and reads return frozen records. The website's only SQL.

A learner's row is created with the first thing worth keeping. Times are arguments.
"""

import asyncio
import contextlib
import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Delete, Row, Select, Table, Update, delete, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from app.course.questions.marking import QuestionResponse
from app.storage.draft_key import DraftKey
from app.storage.records import NOTHING_YET, Answer, ChapterHistory, Prediction, Reading, Session
from app.storage.tables import answers, cell_runs, drafts, hints, learners, metadata, predictions, readings, sessions
from graders.contract.model import LearnerId
from graders.ledger import StorageRefused
from graders.ledger.database import Database
from graders.ledger.finish import forget as forget_submissions

SWEPT_AT_ONCE = 50
"""Learners deleted per transaction: few, so that other writers do not wait long."""
A_DAY = timedelta(days=1)


class Store:
    """Reads and writes the website's rows. Each method is one transaction, or one read, in the database's thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_session(self, token_hash: str, now: datetime) -> Session | None:
        """The session, or None if it is unknown, revoked or expired."""
        mine = (sessions.c.token_hash == token_hash) & (sessions.c.expires_at > now.timestamp())
        rows = await self._database.read(_fetch, select(sessions).where(mine))
        return next((_session(row) for row in rows), None)

    async def keep_session(self, session: Session, now: datetime, expires_at: datetime) -> None:
        """Begin a session, with its learner if they are new, or renew it. One revoked meanwhile stays revoked."""
        await self._database.write(_keep_session, session, now, expires_at)

    async def sessions(self, learner: LearnerId) -> tuple[Session, ...]:
        """The learner's sessions, the one used last first."""
        query = select(sessions).where(sessions.c.learner == learner).order_by(sessions.c.seen_at.desc())
        return tuple(_session(row) for row in await self._database.read(_fetch, query))

    async def end_session(self, learner: LearnerId, token_hash: str) -> bool:
        """Revoke one session of this learner. False if there is none."""
        mine = (sessions.c.learner == learner) & (sessions.c.token_hash == token_hash)
        return await self._database.write(_change, delete(sessions).where(mine)) == 1

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
        }
        return await self._database.write(_add, predictions, row, prediction.committed_at)

    async def resolve_predictions(
        self, learner: LearnerId, chapter: str, predicts: Sequence[str], now: datetime
    ) -> None:
        """Mark committed predictions as settled; those already settled keep their time."""
        mine = (predictions.c.learner == learner) & (predictions.c.chapter == chapter)
        open_ones = predictions.c.predict.in_(predicts) & predictions.c.resolved_at.is_(None)
        statement = update(predictions).where(mine, open_ones).values(resolved_at=now.timestamp())
        await self._database.write(_change, statement)

    async def add_answer(self, learner: LearnerId, chapter: str, answer: Answer) -> None:
        row = {
            "learner": learner,
            "chapter": chapter,
            "question": answer.question,
            "response": _dump_response(answer.response),
            "correct": answer.correct,
            "answered_at": answer.answered_at.timestamp(),
            "content_hash": answer.content_hash,
        }
        await self._database.write(_add, answers, row, answer.answered_at)

    async def rate_answer(
        self, learner: LearnerId, chapter: str, question: str, ticked: Sequence[str], correct: bool
    ) -> bool:
        """Store the rubric's ticks for the last answer to an open question. False if there is no answer."""
        newest = (
            select(answers.c.number)
            .where(answers.c.learner == learner, answers.c.chapter == chapter, answers.c.question == question)
            .order_by(answers.c.number.desc())
            .limit(1)
            .scalar_subquery()
        )
        statement = update(answers).where(answers.c.number == newest)
        return await self._database.write(_change, statement.values(ticked=json.dumps(ticked), correct=correct)) == 1

    async def save_draft(self, learner: LearnerId, key: DraftKey, text: str, now: datetime) -> None:
        row = {"learner": learner, "key": key, "text": text, "saved_at": now.timestamp()}
        await self._database.write(_put, drafts, row, now)

    async def drafts(self, learner: LearnerId, prefix: str) -> Mapping[DraftKey, str]:
        """Drafts by key, for the keys that start with `prefix`."""
        mine = drafts.c.learner == learner
        there = drafts.c.key.startswith(prefix, autoescape=True)
        rows = await self._database.read(_fetch, select(drafts.c.key, drafts.c.text).where(mine, there))
        return {DraftKey(row.key): row.text for row in rows}

    async def note_cell_run(self, learner: LearnerId, chapter: str, cell: str, run: str, now: datetime) -> None:
        row = {"id": run, "learner": learner, "chapter": chapter, "cell": cell, "started_at": now.timestamp()}
        await self._database.write(_add, cell_runs, row, now)

    async def find_cell_run(self, learner: LearnerId, run: str) -> tuple[str, str] | None:
        """Chapter and cell of this learner's run, or None."""
        mine = (cell_runs.c.id == run) & (cell_runs.c.learner == learner)
        rows = await self._database.read(_fetch, select(cell_runs.c.chapter, cell_runs.c.cell).where(mine))
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
        return {row.chapter: _reading(row) for row in await self._database.read(_fetch, statement)}

    async def open_hint(self, learner: LearnerId, exercise: str, number: int, now: datetime) -> None:
        row = {"learner": learner, "exercise": exercise, "number": number, "opened_at": now.timestamp()}
        await self._database.write(_add, hints, row, now)

    async def hints_opened(self, learner: LearnerId, exercise: str) -> int:
        """How many hints are open; they open in order."""
        mine = (hints.c.learner == learner) & (hints.c.exercise == exercise)
        return len(await self._database.read(_fetch, select(hints.c.number).where(mine)))

    async def history(self, learner: LearnerId, chapter: str) -> ChapterHistory:
        histories = await self._database.read(_read_histories, learner, chapter)
        return histories.get(chapter, NOTHING_YET)

    async def histories(self, learner: LearnerId) -> Mapping[str, ChapterHistory]:
        """Histories by chapter; a chapter without any work is missing."""
        return await self._database.read(_read_histories, learner, None)

    async def forget_unreachable(self, now: datetime) -> int:
        """Delete expired sessions, and some of the learners who have no session left; returns how many learners."""
        return await self._database.write(_forget_unreachable, now)

    async def keep_sweeping(self, clock: Callable[[], datetime], every_seconds: float) -> None:
        """Sweep until cancelled. After StorageRefused, the next sweep tries again."""
        while True:
            await asyncio.sleep(every_seconds)
            with contextlib.suppress(StorageRefused):
                await self.forget_unreachable(clock())

    async def export(self, learner: LearnerId) -> dict[str, list[dict[str, Any]]]:
        """Every row about a learner, by table; times as ISO 8601."""
        return await self._database.read(_export, learner)

    async def forget(self, learner: LearnerId) -> None:
        """Delete the learner with all their rows, including submissions and sessions, in one transaction."""
        await self._database.write(_forget, learner)


def _forget(connection: Connection, learner: LearnerId) -> None:
    forget_submissions(connection, learner)
    connection.execute(delete(learners).where(learners.c.id == learner))


def _forget_unreachable(connection: Connection, now: datetime) -> int:
    connection.execute(delete(sessions).where(sessions.c.expires_at <= now.timestamp()))
    # A learner's row is a moment older than their first session, so rows younger than a day are spared.
    lost = learners.c.id.not_in(select(sessions.c.learner)) & (learners.c.created_at < (now - A_DAY).timestamp())
    found = [LearnerId(row.id) for row in _fetch(connection, select(learners.c.id).where(lost).limit(SWEPT_AT_ONCE))]
    for learner in found:
        _forget(connection, learner)
    return len(found)


def _keep_session(connection: Connection, session: Session, now: datetime, expires_at: datetime) -> None:
    renewed = {"seen_at": now.timestamp(), "expires_at": expires_at.timestamp()}
    known = sessions.c.token_hash == session.token_hash
    if connection.execute(update(sessions).where(known).values(renewed)).rowcount or session.made_at != now:
        return
    _insert_new(connection, learners, {"id": session.learner, "created_at": now.timestamp()})
    row = {"token_hash": session.token_hash, "learner": session.learner, "made_at": now.timestamp(), **renewed}
    connection.execute(insert(sessions).values(row))


def _fetch(connection: Connection, statement: Select[Any]) -> Sequence[Row[Any]]:
    return connection.execute(statement).all()


def _change(connection: Connection, statement: Update | Delete) -> int:
    """Run a statement; returns how many rows it changed."""
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
    """An insert of the database's dialect, because SQLAlchemy offers ON CONFLICT only there."""
    return sqlite.insert(table) if connection.dialect.name == "sqlite" else postgresql.insert(table)


def _read_histories(connection: Connection, learner: LearnerId, chapter: str | None) -> Mapping[str, ChapterHistory]:
    """The histories of one chapter, or of all."""
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
    """A learner's rows, of one chapter or of all, oldest first if the table has a time."""
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


def _session(row: Row[Any]) -> Session:
    return Session(row.token_hash, LearnerId(row.learner), _moment(row.made_at), _moment(row.seen_at))


def _prediction(row: Row[Any]) -> Prediction:
    resolved_at = None if row.resolved_at is None else _moment(row.resolved_at)
    return Prediction(
        row.predict, row.option, row.confidence, _moment(row.committed_at), resolved_at, row.content_hash
    )


def _answer(row: Row[Any]) -> Answer:
    ticked = None if row.ticked is None else tuple(json.loads(row.ticked))
    response, answered_at = _load_response(row.response), _moment(row.answered_at)
    return Answer(row.question, response, row.correct, answered_at, ticked, row.content_hash)


def _reading(row: Row[Any]) -> Reading:
    finished_at = None if row.finished_at is None else _moment(row.finished_at)
    return Reading(row.anchor, _moment(row.seen_at), finished_at)


def _dump_response(response: QuestionResponse) -> str:
    drawn = {} if response.draw is None else {"draw": response.draw}
    return json.dumps({"values": response.values, "text": response.text, "node_names": response.node_names, **drawn})


def _load_response(text: str) -> QuestionResponse:
    kept = json.loads(text)
    return QuestionResponse(tuple(kept["values"]), kept["text"], tuple(kept["node_names"]), kept.get("draw"))


def _readable(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _moment(value).isoformat() if name.endswith("_at") and value is not None else value
        for name, value in row.items()
    }
