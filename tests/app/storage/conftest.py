"""A store on a migrated database of its own: each test runs on SQLite and PostgreSQL."""

from collections.abc import AsyncIterator

import pytest

from app.storage.store import Store
from graders.ledger import Database


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url)
    yield database
    await database.close()


@pytest.fixture
def store(database: Database) -> Store:
    return Store(database)
