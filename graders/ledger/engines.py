"""How connections to each database are opened: SQLite in one file, and PostgreSQL for several hosts.

Both have an engine for transactions and one for reading, whose connections cannot write.
"""

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import URL, make_url

from graders.ledger.clock import Clocks

if TYPE_CHECKING:
    from psycopg import AsyncConnection
    from psycopg_pool import AsyncConnectionPool

BUSY_TIMEOUT_MILLISECONDS: Final = 5000
READERS: Final = 4
WRITERS: Final = 4
"""Transactions of one process at a time on PostgreSQL; SQLite has one writer."""
TICKET_CONNECTIONS: Final = 2
POOL_TIMEOUT_SECONDS: Final = 5.0
RECONNECT_SECONDS: Final = 2.0
"""The pool doubles its pause after each failure, and after five minutes without a server it would not notice for
minutes that there is one again. It gives up this soon, and whoever asks next makes it connect at once."""

# foreign_keys, busy_timeout and synchronous are set per connection; journal_mode is stored in the file.
_PRAGMAS: Final = (
    f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MILLISECONDS}",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
)
# A host that vanishes leaves its connections behind: the server ends a transaction that nobody continues, and both
# sides notice a peer that is gone within a minute. Seconds, unless a unit is written.
_SESSION: Final = {
    "lock_timeout": f"{BUSY_TIMEOUT_MILLISECONDS}ms",
    "idle_in_transaction_session_timeout": "30s",
    "tcp_keepalives_idle": "20",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
}
_CONNECT: Final = {
    "application_name": "unwind",
    "connect_timeout": 5,
    "keepalives_idle": 20,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    # Keepalives say nothing while a statement is on its way to a host that is gone; milliseconds.
    "tcp_user_timeout": 60_000,
    # psycopg would name a statement that it runs often, and a pooler in front of the server may not know the name.
    "prepare_threshold": None,
}


def read_url(url: str) -> URL:
    """SQLAlchemy's URL of an SQLite file or of PostgreSQL, whose driver is psycopg however the URL is written."""
    read = make_url(url)
    return read.set(drivername="postgresql+psycopg") if is_postgresql(read.drivername) else read


def is_postgresql(url: str) -> bool:
    return url.partition(":")[0].partition("+")[0] in ("postgresql", "postgres")


def open_writer(url: str, clocks: Clocks) -> Engine:
    """Raises ModuleNotFoundError without PostgreSQL's driver.

    SQLite allows one writer at a time: waiting in our pool is fair, and waiting in SQLite's busy loop is not.
    """
    if is_postgresql(url):
        return _open_postgresql(url, WRITERS)
    # isolation_level=None, because the driver must not begin transactions itself. Its deferred BEGIN takes the write
    # lock only after the first reads, which lets caps be exceeded and ends in "database is locked".
    engine = create_engine(url, pool_size=1, max_overflow=0, connect_args={"isolation_level": None})
    _prepare_connections(engine, clocks)

    @event.listens_for(engine, "begin")
    def begin_immediate(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def open_reader(url: str, clocks: Clocks) -> Engine:
    if is_postgresql(url):
        return _open_postgresql(url, READERS, isolation_level="AUTOCOMMIT", default_transaction_read_only="on")
    engine = create_engine(
        url,
        isolation_level="AUTOCOMMIT",
        pool_size=READERS,
        max_overflow=0,
        pool_reset_on_return=None,
    )
    _prepare_connections(engine, clocks, "PRAGMA query_only = ON")
    return engine


def open_listener_address(url: str) -> str:
    """The address for a connection of psycopg's own, outside the pools."""
    return read_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


def open_pool(url: str) -> "AsyncConnectionPool[AsyncConnection[Any]]":
    """Connections for tickets, each of whose statements is a transaction. Opening the pool waits for no server."""
    from psycopg_pool import AsyncConnectionPool  # noqa: PLC0415

    return AsyncConnectionPool(
        open_listener_address(url),
        kwargs=_CONNECT | {"application_name": "unwind tickets", "options": _write_options(_SESSION)},
        min_size=1,
        max_size=TICKET_CONNECTIONS,
        timeout=POOL_TIMEOUT_SECONDS,
        reconnect_timeout=RECONNECT_SECONDS,
        configure=_commit_each_statement,
        open=False,
    )


async def _commit_each_statement(connection: "AsyncConnection[Any]") -> None:
    await connection.set_autocommit(True)


def _write_options(session: dict[str, str]) -> str:
    return " ".join(f"-c {name}={value}" for name, value in session.items())


def _open_postgresql(url: str, connections: int, isolation_level: str | None = None, **session: str) -> Engine:
    choice = {"isolation_level": isolation_level} if isolation_level else {}
    return create_engine(
        read_url(url),
        pool_size=connections,
        max_overflow=0,
        pool_pre_ping=True,  # a server that was restarted closes them all
        connect_args=_CONNECT | {"options": _write_options(_SESSION | session)},
        **choice,
    )


def _prepare_connections(engine: Engine, clocks: Clocks, *more: str) -> None:
    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: Any) -> None:
        clocks.register(connection)
        cursor = connection.cursor()
        for pragma in (*_PRAGMAS, *more):
            cursor.execute(pragma)
        cursor.close()
