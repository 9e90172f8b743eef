"""A stage for each test, cleared away after it. Each runs on SQLite, and on PostgreSQL in the nightly tests."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from fault_parts import Stage, open_stage


@pytest.fixture
async def stage(tmp_path: Path, database_url: str) -> AsyncIterator[Stage]:
    stage = open_stage(tmp_path, database_url)
    yield stage
    stage.workers.end_workers()
    await stage.ledger.close()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent and item.get_closest_marker("postgresql"):
            item.add_marker(pytest.mark.nightly)
