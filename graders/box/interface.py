"""What the box is asked to do, and what it tells afterwards. It knows processes, not exercises."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from graders.contract.jobs import Flavour
from graders.contract.limits import Limits


class Profile(StrEnum):
    """How strong the confinement on this machine is (see graders/README.md)."""

    P1 = "P1"
    P2 = "P2"
    P3 = "P3"


class Cause(StrEnum):
    """Why a run ended. Everything but EXITED and SIGNALLED was our doing."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    CPU_LIMIT = "cpu_limit"
    WALL_LIMIT = "wall_limit"
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"
    CANCELLED = "cancelled"
    STOPPED = "stopped"
    """The caller had what it wanted and closed the run."""


class Driver(StrEnum):
    """The module of graders/inside that a child runs."""

    ANSWERS = "answers"
    HOST = "host"
    PEAK = "peak"
    MACHINE = "machine"
    CELL = "cell"


class BoxFault(Exception):
    """The box itself failed: never the learner's fault, never an attempt. Names what failed and where."""


class BoxClosed(Exception):
    """The program in the box ended, or was ended, before it sent what was asked of it."""


OutputSink = Callable[[str, bytes], None]
"""Called with "stdout" or "stderr" and a piece, from the thread that drives the run."""


@dataclass(frozen=True)
class BoxRequest:
    """One fork: which interpreter, which trusted driver from graders/inside, its first message, its limits."""

    flavour: Flavour
    driver: Driver
    payload: bytes
    limits: Limits
    on_output: OutputSink | None = None
    one_core: bool = False
    """Kept on one core of the machine, where that can be done: the kernel counts memory by 256 KiB a core."""


@dataclass(frozen=True)
class Exit:
    """Kernel facts about a finished run, and the text it printed (capped)."""

    cause: Cause
    exit_code: int | None
    signal: int | None
    cpu_seconds: float
    wall_seconds: float
    peak_memory_bytes: int | None
    """Peak of the run's memory cgroup; None where the machine has no memory cgroup."""
    stdout: bytes = b""
    stderr: bytes = b""
    output_truncated: bool = False
    waited_seconds: float = 0.0
    """What it waited for a processor, as read when it was stopped or its wall time was over; 0 if it ended before."""
    machine_was_busy: bool = False
    """Its wall time ran out while it mostly waited for a processor: the machine's fault, and not the run's."""


@dataclass(frozen=True)
class MemoryReading:
    """What the kernel has charged a run with: at this moment, and the most since it began."""

    now_bytes: int
    peak_bytes: int


class Run(Protocol):
    """A run in progress. Every wait is bounded by the run's limits; output is drained all the while."""

    def send(self, data: bytes) -> None:
        """Write to the child's descriptor 0. Raises BoxClosed if the child is gone or its time is up."""

    def receive(self, count: int) -> bytes:
        """Read exactly `count` bytes of the child's descriptor 3. Raises BoxClosed if they will not come."""

    def receive_at_most(self, count: int) -> bytes:
        """Read descriptor 3 until it closes or `count` bytes came."""

    def read_memory(self) -> MemoryReading | None:
        """What the run takes; None where the kernel has no such meter. Raises BoxClosed once the run is over."""

    def wait(self) -> Exit:
        """Let the child end by itself (within its limits) and tell how."""

    def stop(self, cause: Cause = Cause.STOPPED) -> Exit:
        """Kill whatever is left, reap it, and tell how it ended. Safe to call twice, and from another thread."""


class Box(Protocol):
    """A slot: zygotes of both flavours, one run at a time."""

    profile: Profile

    def start(self, request: BoxRequest) -> Run:
        """Fork and jail a child and hand it the payload. Raises BoxFault when the box cannot."""

    def close(self) -> None:
        """Stop the zygotes and remove what the slot made."""


@dataclass(frozen=True)
class Boundary:
    """One line of the self-test's report: what was tried, and how we know that it was refused."""

    name: str
    held: bool
    proof: str
    control: str = ""
    """The same attempt where it must succeed (outside the box), or why there is none."""


@dataclass(frozen=True)
class SelfTestReport:
    profile: Profile
    boundaries: tuple[Boundary, ...] = field(default_factory=tuple)
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        return bool(self.boundaries) and all(boundary.held for boundary in self.boundaries)
