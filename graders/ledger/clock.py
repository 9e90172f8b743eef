"""The ledger's two clocks as SQL expressions: the time of day for what people read, and one that never jumps.

On SQLite all processes of a ledger run on one host, so both clocks are the host's. Leases use only the steady clock,
because a change of the time of day must neither extend a lost worker's lease nor end a live worker's. On PostgreSQL
both are the server's time of day, whatever the clocks of the workers' hosts say. It has no steady clock: if the
server's clock jumps forward, workers lose their claims and their submissions run once more.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Double
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


@dataclass(frozen=True)
class Clocks:
    """Where the seconds come from; tests pass their own."""

    time_of_day: Callable[[], float] = time.time
    steady: Callable[[], float] = time.monotonic

    def register(self, connection: Any) -> None:
        """Add both clocks to an sqlite3 connection as SQL functions, because SQLite has no steady clock."""
        connection.create_function("unwind_now_seconds", 0, self.time_of_day)
        connection.create_function("unwind_steady_seconds", 0, self.steady)


class now_seconds(FunctionElement[float]):
    """Seconds since 1970 in UTC, with a fraction."""

    type = Double()
    inherit_cache = True


class steady_seconds(FunctionElement[float]):
    """Seconds since an unspecified moment, at the host's boot or before; does not advance while the host sleeps."""

    type = Double()
    inherit_cache = True


@compiles(now_seconds)
@compiles(steady_seconds)
def _portable(element: FunctionElement[float], compiler: SQLCompiler, **options: Any) -> str:
    # The statement's beginning, because a time that changes within a statement cannot be compared by an index.
    return "CAST(EXTRACT(EPOCH FROM statement_timestamp()) AS DOUBLE PRECISION)"


@compiles(now_seconds, "sqlite")
def _now_on_sqlite(element: now_seconds, compiler: SQLCompiler, **options: Any) -> str:
    return "unwind_now_seconds()"


@compiles(steady_seconds, "sqlite")
def _steady_on_sqlite(element: steady_seconds, compiler: SQLCompiler, **options: Any) -> str:
    return "unwind_steady_seconds()"
