"""Locks that a transaction holds until its end, on PostgreSQL, where several transactions run at once.

SQLite's one writer is alone, so there they do nothing. A name is hashed to PostgreSQL's 64 bits: two names that meet
wait for each other needlessly, and nothing worse.
"""

from sqlalchemy import Connection, text

_TAKE = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")
_TRY = text("SELECT pg_try_advisory_xact_lock(hashtextextended(:name, 0))")


def take_lock(connection: Connection, name: str) -> None:
    """Wait until no other transaction holds the lock of this name. Transactions take their locks in one order."""
    if connection.dialect.name == "postgresql":
        connection.execute(_TAKE, {"name": name})


def try_lock(connection: Connection, name: str) -> bool:
    """Take the lock if it is free; False if another transaction holds it."""
    if connection.dialect.name != "postgresql":
        return True
    taken: bool = connection.execute(_TRY, {"name": name}).scalar_one()
    return taken
