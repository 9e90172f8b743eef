"""How large the database's files are, and how much room their disk has left."""

import asyncio
import shutil
from dataclasses import dataclass
from pathlib import Path

from graders.ledger import Database


@dataclass(frozen=True)
class Sizes:
    """In bytes. `wal` is the write-ahead log, which a checkpoint empties twice a minute."""

    database: int
    wal: int
    disk_free: int


async def measure_sizes(database: Database, data: Path) -> Sizes:
    """Of the database and of the disk that holds the data folder."""
    held, wal = await database.measure_bytes()
    return Sizes(database=held, wal=wal, disk_free=(await asyncio.to_thread(shutil.disk_usage, data)).free)
