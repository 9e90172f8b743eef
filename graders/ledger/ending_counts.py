"""How finished submissions went, each counted once: what an operator watches, without learner, source or result."""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Row, case, func, select

from graders.contract.outcome_sentences import PROVOKABLE
from graders.contract.results import Outcome
from graders.ledger.database import Database
from graders.ledger.records import Kind
from graders.ledger.stored import read_result
from graders.ledger.tables import submissions

ROWS_PER_QUERY: Final = 500
COMMITTED_WITHIN_SECONDS: Final = 60.0
"""A number that is missing for longer will not come: its transaction was rolled back, or its row deleted."""
MAX_MISSING: Final = 2000
_ENDINGS: Final = select(
    *(submissions.c[name] for name in ("number", "kind", "outcome", "submitted_at", "started_at", "finished_at")),
    case((submissions.c.outcome == Outcome.GRADER_FAULT.value, submissions.c.result)).label("fault"),
)


@dataclass(frozen=True)
class Ending:
    """Seconds are None for what never started, such as a submission that was withdrawn while it waited."""

    kind: Kind
    outcome: str
    wait_seconds: float | None
    run_seconds: float | None
    provokable: bool = False
    """A fault that the submission itself may have caused, because it rests on what its own process reported."""


@dataclass(frozen=True)
class _Row:
    number: int
    ending: Ending | None


class Endings:
    """Reports the submissions that ended since the last call. Counts what was submitted after `begin`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._after = 0
        self._unfinished: frozenset[int] = frozenset()
        self._missing: dict[int, float] = {}
        self._reading = asyncio.Lock()

    async def begin(self) -> None:
        self._after = await self._database.read(_read_newest)

    async def take_new(self) -> tuple[Ending, ...]:
        """Reads the new submissions and those that were unfinished before, so that one which waits costs one row."""
        async with self._reading:
            rows = await self._database.read(_read_rows, self._after, self._unfinished | self._missing.keys())
            self._note_missing({row.number for row in rows}, time.monotonic())
            self._unfinished = frozenset(row.number for row in rows if row.ending is None)
            return tuple(row.ending for row in rows if row.ending)

    def _note_missing(self, found: set[int], now: float) -> None:
        """PostgreSQL's transactions may commit in another order than their numbers': wait for those left out."""
        newest = max([self._after, *found])
        first = max(self._after, newest - MAX_MISSING) + 1
        missing = dict.fromkeys(range(first, newest + 1), now + COMMITTED_WITHIN_SECONDS) | self._missing
        self._missing = {number: until for number, until in missing.items() if number not in found and now < until}
        self._after = newest


def _read_newest(connection: Connection) -> int:
    newest: int | None = connection.execute(select(func.max(submissions.c.number))).scalar_one()
    return newest or 0


def _read_rows(connection: Connection, after: int, unfinished: frozenset[int]) -> list[_Row]:
    row = submissions.c
    # An unfinished one that was deleted in the meantime does not come back.
    chosen = [row.number > after, *(row.number.in_(some) for some in _split(sorted(unfinished)))]
    return [
        _Row(found.number, None if found.finished_at is None else _describe(found))
        for condition in chosen
        for found in connection.execute(_ENDINGS.where(condition).order_by(row.number))
    ]


def _split(numbers: list[int]) -> Iterator[list[int]]:
    """In parts that fit into one query's parameters."""
    for start in range(0, len(numbers), ROWS_PER_QUERY):
        yield numbers[start : start + ROWS_PER_QUERY]


def _describe(found: Row[*tuple[Any, ...]]) -> Ending:
    # A clock that was set back would make a time negative.
    wait = None if found.started_at is None else max(0.0, found.started_at - found.submitted_at)
    run = None if found.started_at is None else max(0.0, found.finished_at - found.started_at)
    return Ending(Kind(found.kind), found.outcome, wait, run, _is_provokable(found.fault))


def _is_provokable(fault: str | None) -> bool:
    finding = read_result(fault).finding if fault else None
    return finding is not None and finding.code in PROVOKABLE
