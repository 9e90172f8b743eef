"""How long a run was ready and waited for a processor, as the kernel counts it: the time that a busy host cost it.

A program gains little by faking such a wait: it would have to be ready to run all that time, and while its own
threads wait for each other they use CPU time, which has its own limit.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

NANOSECONDS: Final = 1e-9
MAX_STRETCH: Final = 2.0
"""The limit of wall time is extended by at most this many times itself: at most to three times its value."""


class ProcessorWait:
    """The wait of one process since this object was made. A figure that cannot be read counts as 0."""

    def __init__(self, process_id: int, proc: Path = Path("/proc")) -> None:
        self._tasks = proc / str(process_id) / "task"
        self._stat = proc / "stat"
        self._longest_delay = 0.0
        self._delay_before = self._read_delay()
        self._busy_before, self._stolen_before = self._read_machine()

    def read_seconds(self, cpu_seconds: float) -> float:
        """The most delayed thread's wait, plus the time that a virtual machine's host took from `cpu_seconds`."""
        delay = self._read_delay() - self._delay_before
        busy, stolen = self._read_machine()
        busy, stolen = busy - self._busy_before, stolen - self._stolen_before
        return delay + (cpu_seconds * stolen / busy if busy > 0 else 0.0)

    def _read_delay(self) -> float:
        """The longest delay of any thread so far, in seconds; kept, because an ended thread's count disappears."""
        delays = [int(fields[1]) for fields in self._read_tasks() if len(fields) > 1]
        self._longest_delay = max(self._longest_delay, max(delays, default=0) * NANOSECONDS)
        return self._longest_delay

    def _read_tasks(self) -> Iterator[list[str]]:
        with contextlib.suppress(OSError):
            for task in list(self._tasks.iterdir()):
                with contextlib.suppress(OSError):
                    yield (task / "schedstat").read_text().split()

    def _read_machine(self) -> tuple[int, int]:
        """(computing, stolen by the host of a virtual machine): ticks of all processors since boot."""
        with contextlib.suppress(OSError, ValueError), self._stat.open(encoding="ascii") as lines:
            user, nice, system, _, _, irq, softirq, steal, *_ = map(int, lines.readline().split()[1:])
            return user + nice + system + irq + softirq, steal
        return 0, 0


def extend_wall_limit(wall_seconds: float, waited_seconds: float) -> float:
    """The wall seconds that a run with this limit may take after it has waited `waited_seconds`."""
    return wall_seconds + min(max(0.0, waited_seconds), MAX_STRETCH * wall_seconds)
