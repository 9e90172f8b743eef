"""A store on a migrated database of its own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.storage.database import migrate
from app.storage.store import Store
from graders.ledger import Database


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    url = f"sqlite:///{tmp_path}/store.sqlite3"
    migrate(url, tmp_path)
    database = Database(url)
    yield database
    await database.close()


@pytest.fixture
def store(database: Database) -> Store:
    return Store(database)
