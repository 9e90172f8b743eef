"""The card's memory and clock while a run lasts, read outside the box through the driver's own `nvidia-smi`."""

import contextlib
import functools
import logging
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from graders.contract.events import OnEvent
from graders.contract.jobs import GradeJob, RunJob
from graders.contract.limits import Limits
from graders.contract.results import CARD_MEMORY, Measure, MeasuredBy, Outcome, RunEnd, Verdict
from graders.trusted.finding_sentences import find_outcome
from graders.worker.runner import Runner

SAMPLE_MILLISECONDS: Final = 50
FIRST_SAMPLE_SECONDS: Final = 5.0
# CUDA's own context and torch's libraries on the card, before a program has made a tensor.
CONTEXT_MIB: Final = 1024

log = logging.getLogger(__name__)


@dataclass
class CardReading:
    """What was seen during one run: MiB in use on the whole card, and its clock in MHz."""

    before_mib: float | None = None
    peak_mib: float = 0.0
    clocks_mhz: list[float] = field(default_factory=list)

    def take(self, line: str) -> None:
        """One line of nvidia-smi: `memory, clock`. A line with anything but numbers is left out."""
        with contextlib.suppress(ValueError):
            used, clock = (float(part) for part in line.split(","))
            if self.before_mib is None:
                self.before_mib = used
            self.peak_mib = max(self.peak_mib, used - self.before_mib)
            self.clocks_mhz.append(clock)

    def as_measures(self) -> tuple[Measure, ...]:
        """For the learner to read. They affect no credit: the whole card is sampled, at intervals."""
        if not self.clocks_mhz:
            return ()
        facts = (
            (CARD_MEMORY, self.peak_mib, "MiB"),
            ("card clock, lowest", min(self.clocks_mhz), "MHz"),
            ("card clock, highest", max(self.clocks_mhz), "MHz"),
        )
        return tuple(Measure(name=n, value=v, unit=u, measured_by=MeasuredBy.CARD) for n, v, u in facts)


class CardMeter:
    """`bus` is the card's place as nvidia-smi takes it; with "" it must be the only one."""

    def __init__(self, bus: str = "", command: str = "nvidia-smi") -> None:
        query = ["--query-gpu=memory.used,clocks.sm", "--format=csv,noheader,nounits"]
        chosen = ["--id", bus] if bus else []
        self._command = [command, *chosen, *query, f"--loop-ms={SAMPLE_MILLISECONDS}"]

    @contextlib.contextmanager
    def watch(self, most_mib: int, killed: threading.Event, stop: threading.Event) -> Iterator[CardReading]:
        """Sample until the block ends. Sets `stop` when `killed` is set, or when more than `most_mib` is held."""
        reading = CardReading()
        ready, done = threading.Event(), threading.Event()
        with contextlib.ExitStack() as ending:
            _run_beside(ending, functools.partial(_pass_on, killed, stop, done))
            if process := self._start():
                most = most_mib + CONTEXT_MIB
                _run_beside(ending, functools.partial(_sample, process, reading, ready, most, stop))
                ending.callback(process.kill)
                # The first sample is what the card held before the run.
                ready.wait(FIRST_SAMPLE_SECONDS)
            ending.callback(done.set)
            yield reading

    def _start(self) -> "subprocess.Popen[str] | None":
        try:
            return subprocess.Popen(
                self._command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True
            )
        except OSError as error:
            log.warning("the card's memory is not measured: %s does not start: %s", self._command[0], error)
            return None


def _run_beside(ending: contextlib.ExitStack, work: Callable[[], None]) -> None:
    thread = threading.Thread(target=work, daemon=True, name="card-meter")
    thread.start()
    ending.callback(thread.join)


def _sample(
    process: "subprocess.Popen[str]",
    reading: CardReading,
    ready: threading.Event,
    most_mib: float,
    stop: threading.Event,
) -> None:
    with process:
        for line in process.stdout or ():
            reading.take(line)
            ready.set()
            if reading.peak_mib > most_mib:
                stop.set()
    ready.set()


def _pass_on(killed: threading.Event, stop: threading.Event, done: threading.Event) -> None:
    while not done.wait(SAMPLE_MILLISECONDS / 1000):
        if killed.is_set():
            stop.set()


def watch_card(runner: Runner, meter: CardMeter, find_limits: Callable[[GradeJob | RunJob], Limits]) -> Runner:
    """The runner, with the card's measures added to its results, and ended where a run takes too much of the card."""

    def run(job: GradeJob | RunJob, on_event: OnEvent, kill: threading.Event) -> Verdict | RunEnd:
        most_mib, stop = find_limits(job).card_mib, threading.Event()
        with meter.watch(most_mib, kill, stop) as reading:
            result = runner(job, on_event, stop)
        if result.outcome is Outcome.CANCELLED and not kill.is_set():
            finding = find_outcome(Outcome.MEMORY_LIMIT, limit=f"{most_mib} MiB of the card")
            result = result.model_copy(update={"outcome": Outcome.MEMORY_LIMIT, "finding": finding})
        return result.model_copy(update={"measures": result.measures + reading.as_measures()})

    return run
