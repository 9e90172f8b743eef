"""The table of rate limits that several websites share."""

from sqlalchemy import BigInteger, Column, Double, Index, String, Table

from app.storage.tables.keys import metadata

# How often an act was done within one window of its limit's length; `window` numbers them from 1970 on. `key` is a
# keyed hash of the act and of whose it was. Unused on SQLite, where the one website counts in its memory.
act_counts = Table(
    "act_counts",
    metadata,
    Column("key", String(32), primary_key=True),
    Column("window", BigInteger, primary_key=True, autoincrement=False),
    Column("count", BigInteger, nullable=False),
    Column("expires_at", Double, nullable=False),
)
Index("ix_act_counts_expires_at", act_counts.c.expires_at)
