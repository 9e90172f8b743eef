"""How much room the data folder has left. When little is left, new work is refused so that verdicts can be stored."""

import shutil
import time
from pathlib import Path

from graders.ledger import StorageRefused

LEAST_FREE_BYTES = 128 << 20
"""This much is reserved for the grader: its verdicts on accepted work must still fit."""
LASTS_SECONDS = 5.0


class Disk:
    """Asks the file system at most once every few seconds."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._until = 0.0
        self._free_bytes = 0

    def check(self) -> None:
        """Raises StorageRefused when too little is left."""
        now = time.monotonic()
        if now >= self._until:
            self._free_bytes = shutil.disk_usage(self._data).free
            self._until = now + LASTS_SECONDS
        if self._free_bytes < LEAST_FREE_BYTES:
            raise StorageRefused(f"the disk of {self._data} has {self._free_bytes >> 20} MiB left")
