"""How long a run wanted a processor and got none, as the kernel counts it: what a busy host took from a run.

A program cannot claim such time: it has to be ready to run all the while, and what its own threads take from each
other is CPU time, which has a limit of its own.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

NANOSECONDS: Final = 1e-9
MAX_STRETCH: Final = 2.0
"""A limit of wall time is extended by at most so many times itself, so that it is at most tripled."""


class ProcessorWait:
    """Of one process, from now on. What cannot be read counts as no wait."""

    def __init__(self, process_id: int, proc: Path = Path("/proc")) -> None:
        self._tasks = proc / str(process_id) / "task"
        self._stat = proc / "stat"
        self._longest_delay = 0.0
        self._delay_before = self._read_delay()
        self._busy_before, self._stolen_before = self._read_machine()

    def read_seconds(self, cpu_seconds: float) -> float:
        """The most delayed thread's wait, and what the machine's own host took while the run computed so long."""
        delay = self._read_delay() - self._delay_before
        busy, stolen = self._read_machine()
        busy, stolen = busy - self._busy_before, stolen - self._stolen_before
        return delay + (cpu_seconds * stolen / busy if busy > 0 else 0.0)

    def _read_delay(self) -> float:
        """The longest so far: a thread that ended takes its count with it."""
        delays = [int(fields[1]) for fields in self._read_tasks() if len(fields) > 1]
        self._longest_delay = max(self._longest_delay, max(delays, default=0) * NANOSECONDS)
        return self._longest_delay

    def _read_tasks(self) -> Iterator[list[str]]:
        with contextlib.suppress(OSError):
            for task in list(self._tasks.iterdir()):
                with contextlib.suppress(OSError):
                    yield (task / "schedstat").read_text().split()

    def _read_machine(self) -> tuple[int, int]:
        """Ticks of all processors since boot: computing, and stolen by the host of a virtual machine."""
        with contextlib.suppress(OSError, ValueError), self._stat.open(encoding="ascii") as lines:
            user, nice, system, _, _, irq, softirq, steal, *_ = map(int, lines.readline().split()[1:])
            return user + nice + system + irq + softirq, steal
        return 0, 0


def extend_wall_limit(wall_seconds: float, waited_seconds: float) -> float:
    """How long a run with this limit may take when it has waited so long."""
    return wall_seconds + min(max(0.0, waited_seconds), MAX_STRETCH * wall_seconds)
