"""Work that moves from one learner to another, because its person signed in and said that it is theirs."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, case, func, literal, select, union, update
from sqlalchemy.sql.dml import Insert

from app.course.drills.drill import ANSWERS as DRILLS
from app.storage.calendars import give_calendar
from app.storage.forgetting import forget
from app.storage.records import Work
from app.storage.review_cards import forget_cards, keep_first_zone
from app.storage.statements import insert_into
from app.storage.tables import (
    answers,
    calendars,
    cell_runs,
    comments,
    drafts,
    drill_asks,
    hints,
    learners,
    notes,
    predictions,
    readings,
    regrade_items,
    reports,
    review_cards,
    sessions,
)
from graders.contract.model import LearnerId
from graders.ledger.finish import count_graded, give_submissions

Conflict = Callable[[Any, list[str]], Insert]

CHANGE_HANDS = (answers, cell_runs, comments, reports, regrade_items)
"""Tables where rows of both learners can be side by side."""


def _keep_earlier(column: str) -> Conflict:
    """Of two rows with one key, the one whose time is earlier stays: the first prediction, the first hint."""

    def resolve(moved: Any, rest: list[str]) -> Insert:
        earlier = moved.excluded[column] < moved.table.c[column]
        return _replace_where(moved, rest, earlier)

    return resolve


def _keep_newer(column: str) -> Conflict:
    def resolve(moved: Any, rest: list[str]) -> Insert:
        newer = moved.excluded[column] > moved.table.c[column]
        return _replace_where(moved, rest, newer)

    return resolve


def _replace_where(moved: Any, rest: list[str], condition: Any) -> Insert:
    values = {name: moved.excluded[name] for name in rest}
    keys = [key.name for key in moved.table.primary_key]
    changed: Insert = moved.on_conflict_do_update(index_elements=keys, set_=values, where=condition)
    return changed


def _join_readings(moved: Any, rest: list[str]) -> Insert:
    """The newer place, and the earlier end of reading."""
    ours, theirs = readings.c, moved.excluded
    is_newer = theirs.seen_at > ours.seen_at
    ends = case(
        (ours.finished_at.is_(None), theirs.finished_at),
        (theirs.finished_at < ours.finished_at, theirs.finished_at),
        else_=ours.finished_at,
    )
    values = {
        "anchor": case((is_newer, theirs.anchor), else_=ours.anchor),
        "seen_at": case((is_newer, theirs.seen_at), else_=ours.seen_at),
        "finished_at": ends,
    }
    joined: Insert = moved.on_conflict_do_update(index_elements=["learner", "chapter"], set_=values)
    return joined


def _join_asks(moved: Any, rest: list[str]) -> Insert:
    """The earlier asking, and answered if either was: a graph that was answered once is not asked again."""
    ours, theirs = drill_asks.c, moved.excluded
    values = {
        "asked_at": case((theirs.asked_at < ours.asked_at, theirs.asked_at), else_=ours.asked_at),
        "answered_at": func.coalesce(ours.answered_at, theirs.answered_at),
    }
    joined: Insert = moved.on_conflict_do_update(index_elements=["learner", "graph"], set_=values)
    return joined


IF_FREE = (calendars,)
"""Tables whose row changes hands unless the new learner has one."""

DERIVED = (review_cards,)
"""Tables that are made again from the joined work; both learners' rows go."""

ONE_OF_TWO: dict[Table, Conflict] = {
    predictions: _keep_earlier("committed_at"),
    hints: _keep_earlier("opened_at"),
    drill_asks: _join_asks,
    drafts: _keep_newer("saved_at"),
    notes: _keep_newer("saved_at"),
    readings: _join_readings,
}
"""Tables with one row for each learner and thing, and which row stays when both learners have one."""


def count_work(connection: Connection, learner: LearnerId) -> Work:
    kinds = (predictions, answers, cell_runs, readings)
    worked_in = union(*(select(table.c.chapter).where(table.c.learner == learner) for table in kinds)).subquery()
    in_chapters = _count(connection, worked_in.c.chapter != DRILLS)
    others = sum(_count(connection, table.c.learner == learner) for table in (drafts, hints, notes))
    reported = _count(connection, reports.c.learner == learner)
    drilled = _count(connection, (answers.c.learner == learner) & (answers.c.chapter == DRILLS))
    return Work(in_chapters, count_graded(connection, learner), others, reported, drilled)


def _count(connection: Connection, which: ColumnElement[bool]) -> int:
    counted: int = connection.execute(select(func.count()).where(which)).scalar_one()
    return counted


def merge(connection: Connection, old: LearnerId, new: LearnerId) -> Work:
    """Move all work from `old` to `new`, then delete `old`. Returns what was kept."""
    before = count_work(connection, old)
    for table in CHANGE_HANDS:
        connection.execute(update(table).where(table.c.learner == old).values(learner=new))
    for table, resolve in ONE_OF_TWO.items():
        columns = [literal(new).label("learner") if column.name == "learner" else column for column in table.c]
        names = [column.name for column in table.c]
        source = select(*columns).where(table.c.learner == old)
        moved = insert_into(connection, table).from_select(names, source)
        rest = [name for name in names if name not in table.primary_key.columns]
        connection.execute(resolve(moved, rest))
    left_behind = give_submissions(connection, old, new)
    zone = connection.execute(select(learners.c.zone).where(learners.c.id == old)).scalar_one_or_none()
    keep_first_zone(connection, new, zone or "")
    forget_cards(connection, new)
    give_calendar(connection, old, new)
    connection.execute(update(sessions).where(sessions.c.unclaimed == old).values(unclaimed=None))
    forget(connection, old)
    return replace(before, submissions=before.submissions - left_behind)
