"""The migrations make what the tables say, run once, and take turns."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from app.storage import tables as website
from app.storage.database import make_config, migrate, open_for_migration
from graders.ledger import tables as ledger


def url_in(folder: Path) -> str:
    return f"sqlite:///{folder}/unwind.sqlite3"


def test_migrations_and_metadata_agree(tmp_path: Path) -> None:
    migrate(url_in(tmp_path), tmp_path)
    with open_for_migration(url_in(tmp_path)) as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "render_as_batch": True})
        assert compare_metadata(context, [ledger.metadata, website.metadata]) == []


def test_migrating_again_changes_nothing(tmp_path: Path) -> None:
    migrate(url_in(tmp_path), tmp_path)
    with sqlite3.connect(tmp_path / "unwind.sqlite3") as connection:
        connection.execute("INSERT INTO workers VALUES ('w', 'cpu', 1, '{}', 0)")
    connection.close()
    migrate(url_in(tmp_path), tmp_path)
    connection = sqlite3.connect(tmp_path / "unwind.sqlite3")
    assert connection.execute("SELECT count(*) FROM workers").fetchone() == (1,)
    connection.close()


def test_four_at_once_take_turns(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as threads:
        for one in [threads.submit(migrate, url_in(tmp_path / "new"), tmp_path / "new") for _ in range(4)]:
            one.result()


def test_there_is_one_line_of_revisions(tmp_path: Path) -> None:
    with open_for_migration(url_in(tmp_path)) as connection:
        assert len(ScriptDirectory.from_config(make_config(connection)).get_heads()) == 1
