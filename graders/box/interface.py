"""What a caller can ask of the box, and what the box reports. It knows processes, not exercises."""

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
    """Why a run ended. With EXITED and SIGNALLED the program ended by itself; in all other cases it was ended."""

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
    """The box itself failed. It is never the learner's fault and counts no attempt. Names what failed and where."""


class BoxClosed(Exception):
    """The program in the box ended, or was ended, before it had read or sent everything."""


OutputSink = Callable[[str, bytes], None]
"""Called with "stdout" or "stderr" and a piece of output, from the thread that drives the run."""


@dataclass(frozen=True)
class BoxRequest:
    """What to run in one fork: the interpreter, the driver from graders/inside, its first message and its limits."""

    flavour: Flavour
    driver: Driver
    payload: bytes
    limits: Limits
    on_output: OutputSink | None = None
    one_core: bool = False
    """Keep the run on one core, where that is possible: the kernel counts memory in steps of 256 KiB per core."""
    card: bool = False
    """Let the run use the box's card. BoxFault where the box has none; only the torch flavour can have one."""


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
    """How long it waited for a processor, read when it was stopped or its wall time was over; otherwise 0."""
    machine_was_busy: bool = False
    """Its wall time ran out while it mostly waited for a processor: the machine's fault, not the program's."""


@dataclass(frozen=True)
class MemoryReading:
    """The memory that the kernel has charged to a run: now, and the most since the run began."""

    now_bytes: int
    peak_bytes: int


class Run(Protocol):
    """A run in progress. The run's limits bound every wait, and every wait also drains the program's output."""

    def send(self, data: bytes) -> None:
        """Write all of `data` to the child's descriptor 0. Raises BoxClosed if the child ended or its time is up."""

    def receive(self, count: int) -> bytes:
        """Read exactly `count` bytes from the child's descriptor 3. Raises BoxClosed if fewer than that come."""

    def receive_at_most(self, count: int) -> bytes:
        """Read descriptor 3 until it closes or `count` bytes have come."""

    def read_memory(self) -> MemoryReading | None:
        """The run's memory; None where the kernel cannot measure it. Raises BoxClosed once the run is over."""

    def wait(self) -> Exit:
        """Let the child end by itself, within its limits, and return how it ended."""

    def stop(self, cause: Cause = Cause.STOPPED) -> Exit:
        """Kill the child if it is alive, and return how it ended. Safe to call twice, and from another thread."""


class Box(Protocol):
    """A slot: it has the zygotes of its flavours and does one run at a time."""

    profile: Profile

    @property
    def has_card(self) -> bool:
        """Whether a run can ask for a card."""

    def start(self, request: BoxRequest) -> Run:
        """Fork a child, jail it and send it the payload. Raises BoxFault when the box cannot do so."""

    def close(self) -> None:
        """Stop the zygotes and remove the slot's cgroups."""


@dataclass(frozen=True)
class Boundary:
    """One line of the self-test's report: what was tried, and the proof that it was refused."""

    name: str
    held: bool
    proof: str
    control: str = ""
    """What the same attempt did outside the box, where it should succeed, or why it was not made there."""


@dataclass(frozen=True)
class SelfTestReport:
    profile: Profile
    boundaries: tuple[Boundary, ...] = field(default_factory=tuple)
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        return bool(self.boundaries) and all(boundary.held for boundary in self.boundaries)
