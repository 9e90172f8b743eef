"""A run in progress, seen from outside: moves bytes, enforces the limits of time and output, reports the end."""

import contextlib
import os
import select
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from graders.box.cgroups import RunGroups
from graders.box.interface import BoxClosed, BoxFault, Cause, Exit, MemoryReading, OutputSink, Profile
from graders.box.launcher import Ended, Zygote, read_process_id
from graders.box.processor_wait import ProcessorWait, extend_wall_limit
from graders.box.resident import ResidentMemory
from graders.contract.limits import Limits

PIECE_BYTES: Final = 64 * 1024
# Lines that torch's profiler writes in any process that has no /proc, or is not in its first thread.
PROFILER_NOISE: Final = (
    b"ERROR: External init callback must run in same thread",
    b"Failed to read process name for pid",
)
MAX_NOISE_BYTES: Final = 200
DEATH_SECONDS: Final = 5.0
PROCESSORS: Final = os.cpu_count() or 1
# RLIMIT_CPU is the backstop behind our own count. The kernel samples it, so on a busy machine it may kill a run that
# has used only this share of its CPU time.
BACKSTOP_SHARE: Final = 0.5
SHORTEST_WAIT_SECONDS: Final = 0.002
MIB: Final = 1 << 20
# Between two looks, a run can touch some 20 MiB.
MEMORY_WATCH_SECONDS: Final = 0.01


@dataclass(frozen=True)
class Child:
    """A forked child: its number in messages to the zygote, its pidfd, its cgroups."""

    serial: int
    handle: int
    groups: RunGroups
    retire: Callable[[RunGroups], None]
    """Called with the groups when they have been read; removes them."""


@dataclass(frozen=True)
class Pipes:
    """Our ends of the child's descriptors 0 to 3, all non-blocking."""

    into: int
    stdout: int
    stderr: int
    results: int


class _Output:
    """What the child printed. The two streams share one cap."""

    def __init__(self, cap_bytes: int, sink: OutputSink | None) -> None:
        self._left = cap_bytes
        self._sink = sink
        self._held = b""
        self.texts = {"stdout": bytearray(), "stderr": bytearray()}
        self.overflowed = False

    def take(self, stream: str, piece: bytes) -> bool:
        """Keep what still fits. Returns False if anything printed so far did not fit."""
        if stream == "stderr":
            piece = self._drop_noise(piece)
        kept = piece[: self._left]
        self._left -= len(kept)
        self.overflowed = self.overflowed or len(kept) < len(piece)
        self.texts[stream] += kept
        if kept and self._sink is not None:
            self._sink(stream, kept)
        return not self.overflowed

    def _drop_noise(self, piece: bytes) -> bytes:
        """Noise arrives in several writes: a piece that may become such a line is held until the line is complete."""
        *lines, rest = (self._held + piece).split(b"\n")
        said = b"".join(line + b"\n" for line in lines if not line.startswith(PROFILER_NOISE))
        may_be_noise = 0 < len(rest) <= MAX_NOISE_BYTES and any(
            noise.startswith(rest) or rest.startswith(noise) for noise in PROFILER_NOISE
        )
        if not piece:  # the end of the stream: the held piece will not become a whole line
            may_be_noise = False
        self._held = rest if may_be_noise else b""
        return said if may_be_noise else said + rest


class _CpuClock:
    """The CPU time of a process, read from the kernel through its process id."""

    def __init__(self, handle: int) -> None:
        # See clock_getcpuclockid(3).
        self._clock = (~read_process_id(handle) << 3) | 2
        self._last = 0.0

    def read_seconds(self) -> float:
        with contextlib.suppress(OSError):
            self._last = time.clock_gettime(self._clock)
        return self._last


def keep_on_core(handle: int, core: int) -> None:
    """Pin the child, which has no other threads yet, to `core`. Where that is not allowed, do nothing."""
    with contextlib.suppress(OSError):
        os.sched_setaffinity(read_process_id(handle), {core})


class BoxRun:
    """One child. Calls from several threads are safe: one waits for the other, and stop() ends such a wait."""

    def __init__(self, zygote: Zygote, child: Child, pipes: Pipes, limits: Limits, sink: OutputSink | None) -> None:
        self._zygote = zygote
        self._serial = child.serial
        self._handle = child.handle
        self._groups = child.groups
        self._retire = child.retire
        self._pipes = pipes
        self._limits = limits
        self._output = _Output(limits.output_kib * 1024, sink)
        self._started = time.monotonic()
        self._deadline = self._death_deadline = self._started + limits.wall_seconds
        self._clock = _CpuClock(child.handle)
        self._processor_wait = ProcessorWait(read_process_id(child.handle))
        self._resident = None if child.groups.counts_memory else ResidentMemory(read_process_id(child.handle))
        self._waited_seconds = 0.0
        self._working = threading.RLock()
        self._deciding = threading.Lock()
        self._our_cause: Cause | None = None
        self._exit: Exit | None = None
        self._open = {"stdout": pipes.stdout, "stderr": pipes.stderr, "results": pipes.results, "into": pipes.into}
        self._names = {descriptor: name for name, descriptor in self._open.items()} | {child.handle: "handle"}
        self._polls: dict[str, select.poll] = {}

    @property
    def process_id(self) -> int:
        """-1 once the child is reaped."""
        return read_process_id(self._handle)

    @property
    def groups(self) -> RunGroups:
        return self._groups

    @property
    def is_over(self) -> bool:
        return self._exit is not None

    def send(self, data: bytes) -> None:
        left = memoryview(data)

        def write() -> bool:
            nonlocal left
            with contextlib.suppress(BlockingIOError):
                left = left[os.write(self._pipes.into, left[:PIECE_BYTES]) :]
            return not left

        with self._working:
            # A pipe nearly always has room, and polling first would double the cost of a short message.
            sent = not data or ("into" in self._open and self._exit is None and self._step("into", write))
            if not sent and not self._pump("into", write):
                raise BoxClosed("the program ended before it read everything")

    def receive(self, count: int) -> bytes:
        with self._working:
            data = self._collect(count)
        if len(data) < count:
            raise BoxClosed(f"{count} bytes were expected and {len(data)} came")
        return data

    def receive_at_most(self, count: int) -> bytes:
        with self._working:
            return self._collect(count)

    def read_memory(self) -> MemoryReading | None:
        with self._working:
            if self._exit is not None:
                raise BoxClosed("the run is over, and its groups are gone")
            now, peak = self._groups.read_memory_bytes(), self._groups.read_peak_memory_bytes()
        return None if now is None or peak is None else MemoryReading(now, peak)

    def wait(self) -> Exit:
        with self._working:
            while "results" in self._open and self._exit is None and self._collect(PIECE_BYTES):
                pass  # thrown away, but a full pipe would keep the child from ending
            self._pump("", lambda: False)
            return self._finish()

    def stop(self, cause: Cause = Cause.STOPPED) -> Exit:
        if self._exit is None:
            self._read_wait()
        self._kill(cause)
        with self._working:
            return self._finish()

    def _collect(self, count: int) -> bytes:
        pieces = bytearray()

        def read() -> bool:
            piece = self._read_piece("results", min(PIECE_BYTES, count - len(pieces)))
            pieces.extend(piece)
            return len(pieces) >= count

        if count > 0:
            self._pump("results", read)
        return bytes(pieces)

    def _read_piece(self, name: str, count: int) -> bytes:
        """The next bytes, b"" if there are none yet. Closes our end if the other end is closed."""
        try:
            piece = os.read(self._open[name], count)
        except BlockingIOError:
            return b""
        if not piece:
            self._close(name)
        return piece

    def _pump(self, wanted: str, step: Callable[[], bool]) -> bool:
        """Drain output until `step`, called whenever `wanted` is ready, returns True; False if that cannot happen.

        With `wanted` "", goes on until the child is dead. A dead child writes nothing more, so the pipes are then
        read to the end.
        """
        dead = False
        while not (wanted and wanted not in self._open) and self._exit is None:
            ready = self._poll(wanted, 0.0 if dead else self._find_patience())
            for stream in ("stdout", "stderr"):
                if stream in ready:
                    self._take_output(stream)
            if wanted in ready and self._step(wanted, step):
                return True
            if dead and not ready - {"handle"}:
                return False
            dead = dead or "handle" in ready
            if not dead:
                self._watch_clocks()
        return False

    def _find_patience(self) -> float:
        """Seconds for which no time limit can be reached, even by a child that keeps every processor busy."""
        left = self._deadline - time.monotonic()
        if self._our_cause is None:
            left = min(left, (self._limits.cpu_seconds - self._clock.read_seconds()) / PROCESSORS)
            if self._resident is not None:
                left = min(left, MEMORY_WATCH_SECONDS)
        return max(SHORTEST_WAIT_SECONDS, left)

    def _watch_clocks(self) -> None:
        now = time.monotonic()
        if self._our_cause is not None:
            if now >= self._death_deadline:
                raise BoxFault(f"the run was killed and is still alive {DEATH_SECONDS:g} s later")
        elif self._clock.read_seconds() >= self._limits.cpu_seconds:
            self._kill(Cause.CPU_LIMIT)
        elif self._resident is not None and self._resident.read_growth_bytes() > self._limits.memory_mib * MIB:
            self._kill(Cause.MEMORY_LIMIT)
        elif now >= self._deadline and now >= self._extend_deadline():
            self._kill(Cause.WALL_LIMIT)

    def _extend_deadline(self) -> float:
        """Add the time that the run waited for a processor: it is the machine's doing, not the program's."""
        self._deadline = self._started + extend_wall_limit(self._limits.wall_seconds, self._read_wait())
        return self._deadline

    def _read_wait(self) -> float:
        self._waited_seconds = self._processor_wait.read_seconds(self._clock.read_seconds())
        return self._waited_seconds

    def _step(self, wanted: str, step: Callable[[], bool]) -> bool:
        try:
            return step()
        except BrokenPipeError:
            self._close(wanted)
            return False

    def _take_output(self, stream: str) -> None:
        piece = self._read_piece(stream, PIECE_BYTES)
        if not self._output.overflowed and not self._output.take(stream, piece):
            self._kill(Cause.OUTPUT_LIMIT)

    def _poll(self, wanted: str, seconds: float) -> set[str]:
        poll = self._polls.get(wanted) or self._make_poll(wanted)
        return {self._names[descriptor] for descriptor, _ in poll.poll(max(0.0, seconds) * 1000)}

    def _make_poll(self, wanted: str) -> select.poll:
        """Kept until a descriptor closes: for a short message, making one would cost more than all the rest."""
        poll = self._polls[wanted] = select.poll()
        poll.register(self._handle, select.POLLIN)
        for name in {"stdout", "stderr", wanted} & self._open.keys():
            poll.register(self._open[name], select.POLLOUT if name == "into" else select.POLLIN)
        return poll

    def _kill(self, cause: Cause) -> None:
        with self._deciding:
            if self._exit is not None:
                return
            if self._our_cause is None:
                self._our_cause = cause
                self._death_deadline = self._deadline = time.monotonic() + DEATH_SECONDS
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def _close(self, name: str) -> None:
        descriptor = self._open.pop(name, None)
        if descriptor is not None:
            self._polls.clear()
            os.close(descriptor)

    def _finish(self) -> Exit:
        if self._exit is not None:
            return self._exit
        self._pump("", lambda: False)
        wall_seconds = time.monotonic() - self._started
        try:
            ended = self._zygote.await_end(self._serial)
            ending = self._judge(ended, wall_seconds)
        finally:
            with self._deciding:
                os.close(self._handle)
                self._exit = self._exit or _unknown_exit(wall_seconds)
            for name in tuple(self._open):
                self._close(name)
            if self._resident is not None:
                self._resident.close()
            self._retire(self._groups)
        self._exit = ending
        return ending

    def _judge(self, ended: Ended, wall_seconds: float) -> Exit:
        killed_by = os.WTERMSIG(ended.status) if os.WIFSIGNALED(ended.status) else None
        cause = self._find_cause(killed_by, ended.cpu_seconds)
        return Exit(
            cause=cause,
            exit_code=os.WEXITSTATUS(ended.status) if os.WIFEXITED(ended.status) else None,
            signal=killed_by,
            cpu_seconds=ended.cpu_seconds,
            wall_seconds=wall_seconds,
            waited_seconds=self._waited_seconds,
            machine_was_busy=cause is Cause.WALL_LIMIT and self._waited_seconds > wall_seconds / 2,
            peak_memory_bytes=self._groups.read_peak_memory_bytes(),
            stdout=bytes(self._output.texts["stdout"]),
            stderr=bytes(self._output.texts["stderr"]),
            output_truncated=self._output.overflowed,
        )

    def _find_cause(self, killed_by: int | None, cpu_seconds: float) -> Cause:
        if killed_by is None:
            return Cause.OUTPUT_LIMIT if self._output.overflowed else Cause.EXITED
        if killed_by != signal.SIGKILL:
            return Cause.SIGNALLED
        if self._our_cause is not None:
            return self._our_cause
        if self._groups.count_memory_kills():
            return Cause.MEMORY_LIMIT
        if cpu_seconds >= self._limits.cpu_seconds * BACKSTOP_SHARE:
            return Cause.CPU_LIMIT
        if self._zygote.profile is Profile.P3:
            return Cause.SIGNALLED  # no pid namespace: there a process can kill itself
        raise BoxFault("something outside the box killed the run; look for other uses of SIGKILL on this machine")


def _unknown_exit(wall_seconds: float) -> Exit:
    """Used when the zygote did not report the end, so that a second call neither waits nor raises."""
    return Exit(Cause.STOPPED, None, None, 0.0, wall_seconds, None)
