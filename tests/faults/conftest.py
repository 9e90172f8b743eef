"""A stage for each test, cleared away after it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from fault_parts import Stage, open_stage

from graders.ledger.tables import metadata


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    stage = open_stage(tmp_path)
    await stage.ledger.database.write(metadata.create_all)
    yield stage
    stage.workers.end_workers()
    await stage.ledger.close()
