"""How large the database's files are, and how much room their disk has left."""

import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Sizes:
    """In bytes. `wal` is the write-ahead log, which a checkpoint empties twice a minute."""

    database: int
    wal: int
    disk_free: int


def measure_sizes(database: Path, data: Path) -> Sizes:
    """Of the database's file and of the disk that holds the data folder."""
    return Sizes(
        database=_measure(database),
        wal=_measure(database.with_name(f"{database.name}-wal")),
        disk_free=shutil.disk_usage(data).free,
    )


def _measure(file: Path) -> int:
    return file.stat().st_size if file.is_file() else 0
