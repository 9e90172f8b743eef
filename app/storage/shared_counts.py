"""Counts of acts that all websites of a fleet share, for rate limits: `limits` has no storage for PostgreSQL.

The algorithm is that of its sliding window counter: the count of the current window, and of the one before it the
part that is still within reach. A key is hashed with the site's secret, so no row says whose address it counts.
"""

import hmac
from math import floor

from limits import RateLimitItem
from pydantic import SecretStr
from sqlalchemy import Connection, select

from app.storage.statements import insert_into
from app.storage.tables import act_counts
from graders.ledger.clock import now_seconds
from graders.ledger.database import Database


class SharedCounts:
    """Counts in the database. One act costs a short transaction of two statements."""

    def __init__(self, database: Database, secret: SecretStr) -> None:
        self._database = database
        self._secret = secret.get_secret_value().encode()

    async def hit(self, item: RateLimitItem, *identifiers: str, cost: int = 1) -> bool:
        """Count `cost` for this limit and these identifiers; False if that would exceed the limit: then nothing is.

        Raises StorageRefused if the database does not answer.
        """
        key = hmac.new(self._secret, item.key_for(*identifiers).encode(), "sha256").hexdigest()[:32]
        return await self._database.write_guarded(_count, key, item.get_expiry(), item.amount, cost)


def _count(connection: Connection, key: str, window_seconds: int, limit: int, cost: int) -> bool:
    """Guards itself: the earlier window's count is final, and the current one's is compared where it is changed."""
    row = act_counts.c
    now: float = connection.execute(select(now_seconds())).scalar_one()
    window = floor(now / window_seconds)
    before = select(row.count).where(row.key == key, row.window == window - 1)
    still_within_reach = 1 - now / window_seconds % 1
    left = limit - floor((connection.execute(before).scalar_one_or_none() or 0) * still_within_reach)
    if cost > left:
        return False
    values = {"key": key, "window": window, "count": cost, "expires_at": (window + 2) * window_seconds}
    statement = (
        insert_into(connection, act_counts)
        .values(values)
        .on_conflict_do_update(
            index_elements=["key", "window"], set_={"count": row.count + cost}, where=row.count + cost <= left
        )
    )
    return connection.execute(statement.returning(row.count)).one_or_none() is not None
