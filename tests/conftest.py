"""Puts the files with slow tests first, and gives tests a database of each kind.

Two workers that take whole files then end at about the same time.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from postgresql_server import MISSING, Server, find_programs, run_server

from app.storage.database import migrate

DATABASES = ("sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql))


@pytest.hookimpl(trylast=True)  # after the folders' own hooks, which mark their tests as slow
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """One server for all tests of a process, with a migrated database to copy."""
    programs = find_programs()
    if programs is None:
        pytest.skip(MISSING)
    with run_server(programs) as server:
        server.execute("CREATE DATABASE migrated")
        migrate(server.url("migrated"), server.folder)
        yield server


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file that is migrated once and copied for each test."""
    path = tmp_path_factory.mktemp("empty") / "unwind.sqlite3"
    migrate(f"sqlite:///{path}", path.parent)
    return path


@pytest.fixture(params=DATABASES)
def database_url(request: pytest.FixtureRequest, tmp_path: Path, empty_database: Path) -> Iterator[str]:
    """The URL of a migrated database of the test's own, on SQLite and on PostgreSQL."""
    if request.param == "sqlite":
        yield f"sqlite:///{shutil.copy(empty_database, tmp_path)}"
        return
    server: Server = request.getfixturevalue("postgresql")
    with server.database("migrated") as url:
        yield url
