"""Access to the database: one writer, whose transactions take the write lock when they begin, and several readers.

A transaction is a plain function that runs as a whole in a writer's or reader's thread. So the event loop never waits
for the disk, no statement needs a change of threads, and a caller that is cancelled leaves nothing half done.
"""

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, OperationalError

from graders.ledger.clock import Clocks
from graders.ledger.errors import StorageRefused

P = ParamSpec("P")
T = TypeVar("T")

BUSY_TIMEOUT_MILLISECONDS = 5000
READERS = 4
WRITERS = 4
"""Used where the database allows several writers at once; SQLite has one."""

# foreign_keys, busy_timeout and synchronous are set per connection; journal_mode is stored in the file.
_PRAGMAS = (
    f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MILLISECONDS}",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
)


class Database:
    """The engines and threads of one process. Close it in the lifespan that opened it."""

    def __init__(self, url: str, clocks: Clocks = Clocks()) -> None:
        self.url = url
        self.writer = _open_writer(url, clocks)
        self.reader = _open_reader(url, clocks)
        writers = 1 if _is_sqlite(url) else WRITERS
        self._writing = ThreadPoolExecutor(writers, thread_name_prefix="database-writer")
        self._reading = ThreadPoolExecutor(READERS, thread_name_prefix="database-reader")

    @property
    def file(self) -> Path:
        """SQLite's; its write-ahead log is in the same folder."""
        return Path(make_url(self.url).database or "")

    async def write(
        self, transaction: Callable[Concatenate[Connection, P], T], *args: P.args, **named: P.kwargs
    ) -> T:
        """Run `transaction` and commit it at its end. Raises StorageRefused if the database cannot write."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._writing, self._write, lambda connection: transaction(connection, *args, **named)
        )

    async def read(self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **named: P.kwargs) -> T:
        """Run `query` on a connection that cannot write. Each statement sees all that was committed before it."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._reading, self._read, lambda connection: query(connection, *args, **named)
        )

    def _write(self, transaction: Callable[[Connection], T]) -> T:
        try:
            with self.writer.begin() as connection:
                return transaction(connection)
        except DBAPIError as error:
            raise _refusal(error) from error

    def _read(self, query: Callable[[Connection], T]) -> T:
        with self.reader.connect() as connection:
            return query(connection)

    async def keep_checkpointing(self, every_seconds: float) -> None:
        """Checkpoint again and again until cancelled. After a failure the next round tries again."""
        while True:
            await asyncio.sleep(every_seconds)
            with contextlib.suppress(DBAPIError):
                await self.checkpoint()

    async def checkpoint(self) -> None:
        """Copy the write-ahead log into the file, so that a damaged log loses seconds of work and not days."""
        if _is_sqlite(self.url):
            await asyncio.get_running_loop().run_in_executor(self._reading, self._checkpoint)

    def _checkpoint(self) -> None:
        with self.reader.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(PASSIVE)")

    async def close(self) -> None:
        """Wait for the transactions that have begun, then close all connections."""
        for threads in (self._writing, self._reading):
            await asyncio.to_thread(threads.shutdown)
        self.writer.dispose()
        self.reader.dispose()


def _refusal(error: DBAPIError) -> Exception:
    """StorageRefused for a full disk, a read-only file or a lock held too long; other errors are bugs of ours."""
    cause = error.orig
    if isinstance(error, OperationalError) or isinstance(cause, sqlite3.OperationalError):
        return StorageRefused(str(cause))
    return error


def _is_sqlite(url: str) -> bool:
    return make_url(url).get_backend_name() == "sqlite"


def _open_writer(url: str, clocks: Clocks) -> Engine:
    """SQLite allows one writer at a time. Waiting in our pool is fair; waiting in SQLite's busy loop is not."""
    if not _is_sqlite(url):
        return create_engine(url)
    # isolation_level=None, because the driver must not begin transactions itself. Its deferred BEGIN takes the write
    # lock only after the first reads, which lets caps be exceeded and ends in "database is locked".
    engine = create_engine(url, pool_size=1, max_overflow=0, connect_args={"isolation_level": None})
    _prepare_connections(engine, clocks)

    @event.listens_for(engine, "begin")
    def begin_immediate(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _open_reader(url: str, clocks: Clocks) -> Engine:
    if not _is_sqlite(url):
        return create_engine(url, isolation_level="AUTOCOMMIT")
    engine = create_engine(
        url,
        isolation_level="AUTOCOMMIT",
        pool_size=READERS,
        max_overflow=0,
        pool_reset_on_return=None,
    )
    _prepare_connections(engine, clocks, "PRAGMA query_only = ON")
    return engine


def _prepare_connections(engine: Engine, clocks: Clocks, *more: str) -> None:
    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: Any) -> None:
        clocks.register(connection)
        cursor = connection.cursor()
        for pragma in (*_PRAGMAS, *more):
            cursor.execute(pragma)
        cursor.close()
