"""A ledger on a database of its own, with short clocks: each test runs on SQLite and on PostgreSQL."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from ledger_parts import OpenLedger

from graders.ledger import Ledger, Policy, open_ledger


@pytest.fixture
async def open_one(tmp_path: Path, database_url: str) -> AsyncIterator[OpenLedger]:
    """Opens ledgers on one and the same database, as two processes would."""
    opened: list[Ledger] = []

    def open_another(policy: Policy) -> Ledger:
        ledger = open_ledger(database_url, tmp_path / "wakeups", policy)
        opened.append(ledger)
        return ledger

    yield open_another
    for ledger in opened:
        await ledger.close()


@pytest.fixture
def ledger(open_one: OpenLedger) -> Ledger:
    return open_one(Policy(pending_cap=3))


@pytest.fixture
def hasty(open_one: OpenLedger) -> Ledger:
    """A ledger whose leases are over as soon as they are given."""
    return open_one(Policy(lease_seconds=-1.0, cell_retention_seconds=-1.0))
