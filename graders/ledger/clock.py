"""The database's clock as an SQL expression: leases are compared by one clock, whatever a worker's own says."""

from typing import Any

from sqlalchemy import Double
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


class now_seconds(FunctionElement[float]):
    """Seconds since 1970 in UTC, with a fraction of about a millisecond."""

    type = Double()
    inherit_cache = True


@compiles(now_seconds)
def _portable(element: now_seconds, compiler: SQLCompiler, **options: Any) -> str:
    return "EXTRACT(EPOCH FROM clock_timestamp())"


@compiles(now_seconds, "sqlite")
def _sqlite(element: now_seconds, compiler: SQLCompiler, **options: Any) -> str:
    # unixepoch('subsec') needs SQLite 3.42; Debian 12 has 3.40.
    return "((julianday('now') - 2440587.5) * 86400.0)"
