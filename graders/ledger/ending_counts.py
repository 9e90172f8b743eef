"""How finished submissions went, each counted once: what an operator watches, without learner, source or result."""

import asyncio
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, case, func, select

from graders.contract.outcome_sentences import PROVOKABLE
from graders.contract.results import RESULT, Outcome
from graders.ledger.database import Database
from graders.ledger.records import Kind
from graders.ledger.tables import submissions


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
        self._counted: set[int] = set()
        self._reading = asyncio.Lock()

    async def begin(self) -> None:
        self._after = await self._database.read(_read_newest)

    async def take_new(self) -> tuple[Ending, ...]:
        async with self._reading:
            rows = await self._database.read(_read_rows, self._after)
            new = [row for row in rows if row.ending and row.number not in self._counted]
            unfinished = [row.number for row in rows if row.ending is None]
            # Everything before the first that is still unfinished has been counted, and need not be read again.
            if rows:
                self._after = min(unfinished, default=rows[-1].number + 1) - 1
            self._counted = {row.number for row in rows if row.ending and row.number > self._after}
            return tuple(row.ending for row in new if row.ending)


def _read_newest(connection: Connection) -> int:
    newest: int | None = connection.execute(select(func.max(submissions.c.number))).scalar_one()
    return newest or 0


def _read_rows(connection: Connection, after: int) -> list[_Row]:
    row = submissions.c
    query = (
        select(
            *(row.number, row.kind, row.outcome, row.submitted_at, row.started_at, row.finished_at),
            case((row.outcome == Outcome.GRADER_FAULT.value, row.result)).label("fault"),
        )
        .where(row.number > after)
        .order_by(row.number)
    )
    return [
        _Row(found.number, None if found.finished_at is None else _describe(found))
        for found in connection.execute(query)
    ]


def _describe(found: Row[*tuple[Any, ...]]) -> Ending:
    # A clock that was set back would make a time negative.
    wait = None if found.started_at is None else max(0.0, found.started_at - found.submitted_at)
    run = None if found.started_at is None else max(0.0, found.finished_at - found.started_at)
    return Ending(Kind(found.kind), found.outcome, wait, run, _is_provokable(found.fault))


def _is_provokable(fault: str | None) -> bool:
    finding = RESULT.validate_json(fault).finding if fault else None
    return finding is not None and finding.code in PROVOKABLE
