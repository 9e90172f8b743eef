"""Two websites count the same acts together, no more than the limit, and write down nobody's address."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from limits import RateLimitItemPerHour, RateLimitItemPerSecond
from pydantic import SecretStr
from sqlalchemy import select, update

from app.storage.forgetting import sweep
from app.storage.shared_counts import SharedCounts
from app.storage.statements import moment
from app.storage.tables import act_counts
from graders.ledger import Database

SECRET = SecretStr("s" * 32)
TEN = RateLimitItemPerHour(10)


@pytest.fixture
async def both(database_url: str) -> AsyncIterator[list[SharedCounts]]:
    databases = [Database(database_url), Database(database_url)]
    yield [SharedCounts(database, SECRET) for database in databases]
    for database in databases:
        await database.close()


async def test_two_websites_at_once_let_no_more_through_than_the_limit(both: list[SharedCounts]) -> None:
    hits = await asyncio.gather(*(both[number % 2].hit(TEN, "run", "address", "10.0.0.1") for number in range(30)))
    assert sum(hits) == 10
    assert await both[0].hit(TEN, "run", "address", "10.0.0.2")
    assert await both[0].hit(TEN, "submit", "address", "10.0.0.1")


async def test_a_cost_that_does_not_fit_is_refused_whole_and_a_smaller_one_still_fits(
    both: list[SharedCounts],
) -> None:
    assert await both[0].hit(TEN, "bytes", "learner", "ann", cost=7)
    assert not await both[1].hit(TEN, "bytes", "learner", "ann", cost=4)
    assert await both[1].hit(TEN, "bytes", "learner", "ann", cost=3)
    assert not await both[0].hit(TEN, "bytes", "learner", "bob", cost=11)


async def test_the_window_before_counts_by_the_part_that_is_still_within_reach(
    both: list[SharedCounts], database: Database
) -> None:
    # A window of a thousand years: practically none of it has passed.
    age = RateLimitItemPerSecond(10, 86400 * 365 * 1000)
    assert await both[0].hit(age, "run", "learner", "ann", cost=9)
    earlier = update(act_counts).values(window=act_counts.c.window - 1)
    assert (await database.read(lambda connection: connection.execute(select(act_counts)).one())).window == 0
    await database.write(lambda connection: connection.execute(earlier))
    # Fifty-odd years of the thousand have passed since 1970: at least nine tenths of nine still count.
    assert not await both[0].hit(age, "run", "learner", "ann", cost=3)
    assert await both[0].hit(age, "run", "learner", "ann", cost=2)


async def test_no_row_names_an_address_and_the_sweep_deletes_what_is_over(
    both: list[SharedCounts], database: Database
) -> None:
    assert await both[0].hit(TEN, "run", "address", "10.0.0.1")
    row = await database.read(lambda connection: connection.execute(select(act_counts)).one())
    assert "10.0.0.1" not in str(row)
    assert row.count == 1

    for at, left in ((row.expires_at - 1, 1), (row.expires_at, 0)):
        await database.write(sweep, moment(at))
        rows = await database.read(lambda connection: connection.execute(select(act_counts)).all())
        assert len(rows) == left
