"""The memory that a run has touched, where no memory cgroup counts it: the kernel's count of its resident pages."""

import contextlib
import os
import resource
from typing import Final

PAGE_BYTES: Final = resource.getpagesize()
MAX_LINE_BYTES: Final = 256


class ResidentMemory:
    """How much more anonymous memory a process has resident than when this object was made.

    What a fork shares with its zygote is resident from the start, and so is not counted. A count that cannot be read
    is taken as 0.
    """

    def __init__(self, process_id: int) -> None:
        self._statm: int | None = None
        with contextlib.suppress(OSError):
            self._statm = os.open(f"/proc/{process_id}/statm", os.O_RDONLY | os.O_CLOEXEC)
        self._before = self._read_pages()

    def read_growth_bytes(self) -> int:
        return (self._read_pages() - self._before) * PAGE_BYTES

    def close(self) -> None:
        if self._statm is not None:
            os.close(self._statm)
            self._statm = None

    def _read_pages(self) -> int:
        if self._statm is None:
            return 0
        try:
            _, resident, shared, *_ = os.pread(self._statm, MAX_LINE_BYTES, 0).split()
        except (OSError, ValueError):  # the process is gone
            return 0
        return int(resident) - int(shared)
