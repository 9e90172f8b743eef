"""Bring this installation's database up to date, one process at a time. The ledger opens it."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from sqlalchemy import Connection, create_engine, event
from sqlalchemy.exc import DatabaseError
from sqlalchemy.pool import NullPool

from app.storage.worker_role import NoSuchRole, limit_worker_role
from graders.ledger.engines import read_url
from graders.ledger.locks import take_lock

MIGRATIONS = Path(__file__).parent / "migrations"


class MigrationRefused(Exception):
    """The database could not be brought up to date, and is unchanged; the message says what to look at."""


def migrate(database_url: str, data: Path, worker_role: str | None = None) -> None:
    """Run the missing migrations, and limit the graders' role. Two processes take turns.

    Raises MigrationRefused, and NoSuchRole if the server does not have the role.
    """
    data.mkdir(parents=True, exist_ok=True)
    try:
        with _lock(data / "migrate.lock"), open_for_migration(database_url) as connection:
            take_lock(connection, "migrate")  # for processes on other hosts
            check_health(connection)
            command.upgrade(make_config(connection), "head")
            if worker_role:
                _limit(connection, worker_role)
    except DatabaseError as error:
        raise MigrationRefused(
            f"The database {show_url(database_url)} cannot be brought up to date ({error.orig}): check that nothing "
            "else holds it, that its folder and files can be written, and that Unwind made it. If it is damaged, "
            "put your newest backup in its place (docs/operating.md)."
        ) from error
    except CommandError as error:
        raise MigrationRefused(
            f"The database {show_url(database_url)} was made by a newer version of this program ({error}): start "
            "that version, or put a backup from before the update in its place (docs/operating.md)."
        ) from error


def _limit(connection: Connection, worker_role: str) -> None:
    if connection.dialect.name == "sqlite":
        raise NoSuchRole("SQLite has no roles: leave --worker-role out, or name PostgreSQL in UNWIND_DATABASE_URL.")
    limit_worker_role(connection, worker_role)


def is_up_to_date(database_url: str) -> bool:
    """Whether the database exists with all migrations. Raises MigrationRefused if it is damaged, or DatabaseError."""
    if not _exists(database_url):
        return False
    with open_for_migration(database_url) as connection:
        check_health(connection)
        current = MigrationContext.configure(connection).get_current_revision()
        return current == ScriptDirectory.from_config(make_config(connection)).get_current_head()


def _exists(database_url: str) -> bool:
    """Opening an SQLite file would make it."""
    url = read_url(database_url)
    return url.get_backend_name() != "sqlite" or Path(url.database or "").is_file()


def show_url(database_url: str) -> str:
    """The database's URL without its password, for messages."""
    return read_url(database_url).render_as_string(hide_password=True)


def make_config(connection: Connection) -> Config:
    """Alembic's configuration without its ini file: all its settings are here and in env.py."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    return config


def check_health(connection: Connection) -> None:
    """Report a damaged SQLite file at the start, before a learner runs into it."""
    if connection.dialect.name != "sqlite":
        return
    found = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one()
    if found != "ok":
        raise MigrationRefused(
            f"The database {show_url(str(connection.engine.url))} is damaged ({found}): put your newest backup in "
            "its place (docs/operating.md)."
        )


@contextmanager
def open_for_migration(database_url: str) -> Iterator[Connection]:
    """A plain connection whose transaction is committed at the end: all missing migrations, or none."""
    url = read_url(database_url)
    is_sqlite = url.get_backend_name() == "sqlite"
    # Foreign keys stay off here: SQLite alters a table by copying it, and would cascade its children away.
    engine = create_engine(url, poolclass=NullPool, connect_args={"isolation_level": None} if is_sqlite else {})
    if is_sqlite:
        # The driver's own transactions would leave DDL statements outside them.
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
