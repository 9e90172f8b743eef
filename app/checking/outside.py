"""Runs code of the course that the box cannot run: on this machine, outside the box, and only if its author asks.

The box allows no new process and no socket, so nothing can be compiled there and no two processes can talk to each
other. What runs here has the author's own rights, so it may only be code of the course, never a reader's.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from app.course.blocks import Need
from graders.contract.hello import WorkerHello
from graders.contract.jobs import RunJob
from graders.contract.results import Measure, MeasuredBy, Mistake, Outcome, RunEnd

COMPILER = "g++"
"""What `torch.compile` calls on a CPU."""

LOOPBACK = "127.0.0.1"

WALL_SECONDS: Mapping[Need, float] = {"compiler": 170.0, "ranks": 60.0}
"""A first compilation takes some ten seconds, and a program may need several. Two ranks start in about three."""

RANKS = 2

GRACE_SECONDS = 0.5
"""How long the other ranks may go on once one has failed: a rank that died just before may not be seen yet."""

ONE_PROCESS = Path(__file__).with_name("one_process.py")

Tools = Mapping[Need, str]
"""What this machine has to run code with outside the box, by need, in the words of the evidence."""


def find_tools() -> Tools:
    """What runs outside the box on this machine; a need that cannot be met is left out."""
    tools: dict[Need, str] = {"ranks": f"{RANKS} processes on loopback"}
    if compiler := _find_compiler():
        tools["compiler"] = compiler
    return tools


def _find_compiler() -> str:
    """The compiler's name and version in its own words, or nothing if there is none."""
    if not shutil.which(COMPILER):
        return ""
    said = subprocess.run([COMPILER, "--version"], capture_output=True, text=True, timeout=10, check=False).stdout
    return said.split("\n")[0].strip()


def name_place(hello: WorkerHello, needs: Need, tools: Tools) -> WorkerHello:
    """The surroundings of a run as evidence names them: the graders', and what it ran with outside the box."""
    return hello.model_copy(update={"device": f"{hello.device} with {tools[needs]}"}) if needs in tools else hello


def run_outside(
    jobs: Mapping[str, tuple[RunJob, Need]], limits: Mapping[Need, float] = WALL_SECONDS
) -> Iterator[tuple[str, RunEnd]]:
    """Runs each job in fresh interpreters, one after the other, and yields its name and how it ended."""
    for name, (job, needs) in jobs.items():
        with tempfile.TemporaryDirectory() as folder:
            yield name, _run(job, needs, Path(folder), limits[needs])


class Failure(BaseModel):
    """The error that ended a program, as its process left it. `at` is in nanoseconds of the monotonic clock."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    at: int
    type: str
    message: str
    traceback: str


@dataclass(frozen=True)
class Rank:
    """One process of a program, and the files that it leaves. A program that compiles is one rank."""

    process: subprocess.Popen[bytes]
    stdout: Path
    stderr: Path
    failure: Path


def _run(job: RunJob, needs: Need, folder: Path, limit: float) -> RunEnd:
    """In an empty folder that also holds what is compiled, so that no earlier compilation is found."""
    program = folder / "program.py"
    program.write_text(f"{job.setup}\n{job.source}\n", encoding="utf-8")
    started = time.monotonic()
    ranks: list[Rank] = []
    try:
        ranks += (_start(program, number, given) for number, given in enumerate(_environments(needs, folder)))
        _wait(ranks, started + limit)
        codes = [rank.process.poll() for rank in ranks]
    finally:
        _kill(ranks)
    seconds = round(time.monotonic() - started, 3)
    measures = (Measure(name="wall", value=seconds, unit="s", measured_by=MeasuredBy.JUDGE),)
    if mistake := _find_first_mistake(ranks, codes, needs):
        return RunEnd(outcome=Outcome.RUNTIME_ERROR, mistake=mistake, measures=measures)
    if None in codes:
        message = f"{_name_running(codes, needs)} still running after {limit:.0f} seconds"
        mistake = Mistake(type="TimeoutExpired", message=message)
        return RunEnd(outcome=Outcome.TIME_LIMIT, mistake=mistake, measures=measures)
    first = ranks[0]
    return RunEnd(outcome=Outcome.OK, stdout=_read(first.stdout), stderr=_read(first.stderr), measures=measures)


def _environments(needs: Need, folder: Path) -> Iterable[Sequence[str]]:
    """For each process, the variables that it gets. Those of ranks are what torchrun sets."""
    if needs != "ranks":
        return [[f"TORCHINDUCTOR_CACHE_DIR={folder}"]]
    meeting = [f"MASTER_ADDR={LOOPBACK}", f"MASTER_PORT={_find_port()}", f"WORLD_SIZE={RANKS}"]
    # Without the interface's name gloo looks up this machine's host name, which need not have an address.
    alone = ["GLOO_SOCKET_IFNAME=lo", "OMP_NUM_THREADS=1"]
    return [[*meeting, *alone, f"RANK={rank}", f"LOCAL_RANK={rank}"] for rank in range(RANKS)]


def _find_port() -> int:
    with socket.socket() as free:
        free.bind((LOOPBACK, 0))
        return int(free.getsockname()[1])


def _start(program: Path, number: int, given: Sequence[str]) -> Rank:
    """Starts a process in a group of its own, so that what it starts itself ends with it."""
    out, err, failure = (program.with_name(f"{number}.{kind}") for kind in ("stdout", "stderr", "failure"))
    python = [sys.executable, "-I", str(ONE_PROCESS)]
    command = ["env", *given, *python, str(program), str(failure), str(os.getpid())]
    with out.open("wb") as stdout, err.open("wb") as stderr:
        process = subprocess.Popen(command, stdout=stdout, stderr=stderr, cwd=program.parent, start_new_session=True)
    return Rank(process, out, err, failure)


def _wait(ranks: Sequence[Rank], until: float) -> None:
    """Until each process has ended, or one has failed and the others had a moment: they would wait for it."""
    while time.monotonic() < until:
        codes = [rank.process.poll() for rank in ranks]
        if None not in codes:
            return
        if any(codes):
            until = min(until, time.monotonic() + GRACE_SECONDS)
            _wait_for_all(ranks, until)
            return
        time.sleep(0.02)


def _wait_for_all(ranks: Sequence[Rank], until: float) -> None:
    for rank in ranks:
        with suppress(subprocess.TimeoutExpired):
            rank.process.wait(max(0.0, until - time.monotonic()))


def _kill(ranks: Iterable[Rank]) -> None:
    for rank in ranks:
        try:
            os.killpg(rank.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
        finally:
            rank.process.wait()


def _name_running(codes: Sequence[int | None], needs: Need) -> str:
    if needs != "ranks":
        return "the program was"
    running = [str(number) for number, code in enumerate(codes) if code is None]
    return f"rank {running[0]} was" if len(running) == 1 else f"ranks {' and '.join(running)} were"


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _find_first_mistake(ranks: Sequence[Rank], codes: Sequence[int | None], needs: Need) -> Mistake | None:
    """The error that came first: a rank that loses its partner raises too, but later.

    A process that left no error has died without a chance to: the others' errors are what its death did to them.
    """
    found = []
    for number, (rank, code) in enumerate(zip(ranks, codes, strict=True)):
        place = f"in rank {number}: " if needs == "ranks" else ""
        if failure := _read_failure(rank):
            message = f"{place}{failure.message.strip() or 'no message'}"
            mistake = Mistake(type=failure.type, message=message, traceback=failure.traceback)
            found.append((failure.at, number, mistake))
        elif code:
            found.append((0, number, _describe_death(code, place, _read(rank.stderr))))
    return min(found, key=lambda each: each[:2])[2] if found else None


def _read_failure(rank: Rank) -> Failure | None:
    """The line of an error counts the hidden setup too, and so it is left out."""
    return Failure.model_validate_json(rank.failure.read_bytes()) if rank.failure.exists() else None


def _describe_death(code: int, place: str, stderr: str) -> Mistake:
    if code > 0:
        message = f"{place}the process ended with code {code} and no error"
        return Mistake(type="ExitCode", message=message, traceback=stderr)
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"  # A real-time signal has a number alone.
    return Mistake(type=name, message=f"{place}the process was ended by this signal", traceback=stderr)
