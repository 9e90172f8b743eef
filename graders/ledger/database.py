"""Access to the database through transactions that are plain functions, each run as a whole in a thread.

So the event loop never waits for the disk, no statement needs a change of threads, and a caller that is cancelled
leaves nothing half done. SQLite has one writer, whose transactions take the write lock when they begin. PostgreSQL
runs several at once, as if one came after the other: it refuses one that would break this, and we run it again.
"""

import asyncio
import contextlib
import random
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from sqlalchemy import Connection, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from graders.ledger.clock import Clocks
from graders.ledger.engines import READERS, WRITERS, is_postgresql, open_reader, open_writer
from graders.ledger.errors import StorageRefused, StorageUnavailable

P = ParamSpec("P")
T = TypeVar("T")

LOST_A_RACE: Final = ("40001", "40P01")
"""PostgreSQL's codes for a transaction that could not be put in an order with others, and for a deadlock."""
SERVER_IS_GONE: Final = ("08", "57P", "53300")
"""What its codes begin with for a lost connection, a server that stops or starts, and one without a free slot."""
TRIES: Final = 12
MAX_PAUSE_SECONDS: Final = 0.2


_SIZE: Final = text("SELECT pg_database_size(current_database())")


class Database:
    """The engines and threads of one process. Close it in the lifespan that opened it."""

    def __init__(self, url: str, clocks: Clocks = Clocks()) -> None:
        self.url = url
        self.is_sqlite = not is_postgresql(url)
        self.writer = open_writer(url, clocks)
        self.reader = open_reader(url, clocks)
        writers = 1 if self.is_sqlite else WRITERS
        self._writing = ThreadPoolExecutor(writers, thread_name_prefix="database-writer")
        self._reading = ThreadPoolExecutor(READERS, thread_name_prefix="database-reader")

    @property
    def file(self) -> Path | None:
        """SQLite's; its write-ahead log is in the same folder. None on PostgreSQL."""
        return Path(make_url(self.url).database or "") if self.is_sqlite else None

    async def write(
        self, transaction: Callable[Concatenate[Connection, P], T], *args: P.args, **named: P.kwargs
    ) -> T:
        """Run `transaction` and commit it at its end. Raises StorageRefused if the database cannot write.

        On PostgreSQL it is serializable and may run several times, so it changes nothing but the database.
        """
        return await self._run("SERIALIZABLE", lambda connection: transaction(connection, *args, **named))

    async def write_guarded(
        self, transaction: Callable[Concatenate[Connection, P], T], *args: P.args, **named: P.kwargs
    ) -> T:
        """The same for a transaction that guards itself, by locks or by the conditions of its single statements.

        On PostgreSQL each of its statements sees what was committed before it, and it rarely has to run again.
        """
        return await self._run("READ COMMITTED", lambda connection: transaction(connection, *args, **named))

    async def read(self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **named: P.kwargs) -> T:
        """Run `query` on a connection that cannot write. Each statement sees all that was committed before it.

        Raises StorageRefused if the database cannot be read just now.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._reading, self._read, lambda connection: query(connection, *args, **named)
        )

    async def _run(self, isolation: str, transaction: Callable[[Connection], T]) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._writing, self._write, isolation, transaction)

    def _write(self, isolation: str, transaction: Callable[[Connection], T]) -> T:
        for tried in range(1, TRIES + 1):
            try:
                return self._write_once(isolation, transaction)
            except DBAPIError as error:
                if tried == TRIES or not _lost_a_race(error):
                    raise _refusal(error) from error
            # Those that met wait for different times, and meet no more.
            time.sleep(random.uniform(0.0, min(MAX_PAUSE_SECONDS, 0.002 * 2**tried)))
        raise AssertionError("the last try returns or raises")

    def _write_once(self, isolation: str, transaction: Callable[[Connection], T]) -> T:
        with self.writer.connect() as connection:
            if not self.is_sqlite:
                connection.execution_options(isolation_level=isolation)
            with connection.begin():
                return transaction(connection)

    def _read(self, query: Callable[[Connection], T]) -> T:
        try:
            with self.reader.connect() as connection:
                return query(connection)
        except DBAPIError as error:
            raise _refusal(error) from error

    async def keep_checkpointing(self, every_seconds: float) -> None:
        """Checkpoint again and again until cancelled. After a failure the next round tries again."""
        while True:
            await asyncio.sleep(every_seconds)
            with contextlib.suppress(DBAPIError):
                await self.checkpoint()

    async def checkpoint(self) -> None:
        """Copy SQLite's write-ahead log into the file, so that a damaged log loses seconds of work and not days."""
        if self.is_sqlite:
            await asyncio.get_running_loop().run_in_executor(self._reading, self._checkpoint)

    def _checkpoint(self) -> None:
        with self.reader.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(PASSIVE)")

    async def measure_bytes(self) -> tuple[int, int]:
        """The sizes of the database and of SQLite's write-ahead log; PostgreSQL's log is not of one database."""
        if self.file is None:
            return await self.read(lambda connection: connection.execute(_SIZE).scalar_one()), 0
        log = self.file.with_name(f"{self.file.name}-wal")
        return await asyncio.to_thread(_measure, self.file), await asyncio.to_thread(_measure, log)

    async def close(self) -> None:
        """Wait for the transactions that have begun, then close all connections."""
        for threads in (self._writing, self._reading):
            await asyncio.to_thread(threads.shutdown)
        self.writer.dispose()
        self.reader.dispose()


def _measure(file: Path) -> int:
    return file.stat().st_size if file.is_file() else 0


def _lost_a_race(error: DBAPIError) -> bool:
    return getattr(error.orig, "sqlstate", None) in LOST_A_RACE


def _refusal(error: DBAPIError) -> Exception:
    """StorageRefused for a full disk, a read-only file, a lock held too long or a server that is gone.

    Other errors are bugs of ours.
    """
    cause: Any = error.orig
    if isinstance(error, InterfaceError) or error.connection_invalidated or _is_gone(cause):
        return StorageUnavailable(str(cause))
    if isinstance(error, OperationalError) or isinstance(cause, sqlite3.OperationalError):
        return StorageRefused(str(cause))
    return error


def _is_gone(cause: Any) -> bool:
    """Whether PostgreSQL could not be reached, or is shutting down or starting; SQLite's errors have no code."""
    if isinstance(cause, sqlite3.Error):
        return False
    code = getattr(cause, "sqlstate", None)
    return code is None or code.startswith(SERVER_IS_GONE)
