"""The small statements that every part of the store is made of."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Delete, Row, Select, Table, Update
from sqlalchemy.dialects import postgresql, sqlite


def fetch(connection: Connection, statement: Select[Any]) -> Sequence[Row[Any]]:
    return connection.execute(statement).all()


def change(connection: Connection, statement: Update | Delete) -> int:
    """Run a statement; returns how many rows it changed."""
    return connection.execute(statement).rowcount


def insert_new(connection: Connection, table: Table, row: dict[str, Any]) -> bool:
    """Insert a row unless its key is taken; True when it was inserted."""
    statement = insert_into(connection, table).values(row).on_conflict_do_nothing()
    # Without the option SQLAlchemy does not ask psycopg how many rows an INSERT made.
    return connection.execute(statement.execution_options(preserve_rowcount=True)).rowcount == 1


def insert_into(connection: Connection, table: Table) -> "sqlite.Insert | postgresql.Insert":
    """An insert of the database's dialect, because SQLAlchemy offers ON CONFLICT only there."""
    return sqlite.insert(table) if connection.dialect.name == "sqlite" else postgresql.insert(table)


def moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def optional_moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else moment(seconds)
