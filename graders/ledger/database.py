"""The two doors to the database: one writer, which holds the write lock from its first word, and some readers."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from graders.ledger.errors import StorageRefused

BUSY_TIMEOUT_MILLISECONDS = 5000
READERS = 4

# foreign_keys, busy_timeout and synchronous belong to a connection; journal_mode stays in the file.
_PRAGMAS = (
    f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MILLISECONDS}",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
)


class Database:
    """Engines of one process. Close it in the lifespan that opened it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.writer = _open_writer(url)
        self.reader = _open_reader(url)

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncConnection]:
        """One transaction, committed on leaving. Raises StorageRefused when the database cannot write."""
        try:
            async with self.writer.begin() as connection:
                yield connection
        except DBAPIError as error:
            raise _refusal(error) from error

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """A connection that cannot write. Each statement sees what was committed before it."""
        async with self.reader.connect() as connection:
            yield connection

    async def close(self) -> None:
        await self.writer.dispose()
        await self.reader.dispose()


def _refusal(error: DBAPIError) -> Exception:
    """A full disk, a read-only file or a lock held too long are the operator's; anything else is a bug of ours."""
    cause = error.orig
    if isinstance(error, OperationalError) or isinstance(cause, sqlite3.OperationalError):
        return StorageRefused(str(cause))
    return error


def _is_sqlite(url: str) -> bool:
    return make_url(url).get_backend_name() == "sqlite"


def _open_writer(url: str) -> AsyncEngine:
    """SQLite has one writer at a time. Waiting for it in our pool is fair; waiting in its busy loop is not."""
    if not _is_sqlite(url):
        return create_async_engine(url)
    # isolation_level=None: the driver must not begin transactions behind our back. Its deferred BEGIN reads
    # first and asks for the write lock later, which breaks caps and ends in "database is locked".
    engine = create_async_engine(url, pool_size=1, max_overflow=0, connect_args={"isolation_level": None})
    _set_pragmas(engine)

    @event.listens_for(engine.sync_engine, "begin")
    def begin_immediate(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _open_reader(url: str) -> AsyncEngine:
    if not _is_sqlite(url):
        return create_async_engine(url, isolation_level="AUTOCOMMIT")
    engine = create_async_engine(
        url,
        isolation_level="AUTOCOMMIT",
        pool_size=READERS,
        max_overflow=0,
        pool_reset_on_return=None,
    )
    _set_pragmas(engine, "PRAGMA query_only = ON")
    return engine


def _set_pragmas(engine: AsyncEngine, *more: str) -> None:
    @event.listens_for(engine.sync_engine, "connect")
    def set_pragmas(connection: Any, record: Any) -> None:
        cursor = connection.cursor()
        for pragma in (*_PRAGMAS, *more):
            cursor.execute(pragma)
        cursor.close()
