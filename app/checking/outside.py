"""Runs code of the course that the box cannot run: on this machine, outside the box, and only if its author asks.

The box allows no new process and no socket, so nothing can be compiled there and no two processes can talk to each
other. What runs here has the author's own rights, so it may only be code of the course, never a reader's.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

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

END_OF_RANK = """
import os, sys
sys.stdout.flush()
sys.stderr.flush()
os._exit(0)
"""
"""Ends a rank without the interpreter's own cleanup. There, gloo's threads under a living DDP aborted in up to
half of the runs on a busy machine: "terminate called without an active exception"."""

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


@dataclass(frozen=True)
class Rank:
    """One process of a program, and the files with what it printed. A program that compiles is one rank."""

    process: subprocess.Popen[bytes]
    stdout: Path
    stderr: Path


def _run(job: RunJob, needs: Need, folder: Path, limit: float) -> RunEnd:
    """In an empty folder that also holds what is compiled, so that no earlier compilation is found."""
    program = folder / "program.py"
    end = END_OF_RANK if needs == "ranks" else ""
    program.write_text(f"{job.setup}\n{job.source}\n{end}", encoding="utf-8")
    started = time.monotonic()
    ranks = [_start(program, given) for given in _environments(needs, folder)]
    try:
        _wait(ranks, started + limit)
        codes = [rank.process.poll() for rank in ranks]
    finally:
        _kill(ranks)
    seconds = round(time.monotonic() - started, 3)
    measures = (Measure(name="wall", value=seconds, unit="s", measured_by=MeasuredBy.JUDGE),)
    failed = next((number for number, code in enumerate(codes) if code), None)
    if failed is not None:
        mistake = _read_mistake(_read(ranks[failed].stderr), f"in rank {failed}: " if needs == "ranks" else "")
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


def _start(program: Path, given: Sequence[str]) -> Rank:
    """Starts a process in a group of its own, so that what it starts itself ends with it."""
    number = len(list(program.parent.glob("*.stdout")))
    out, err = program.with_name(f"{number}.stdout"), program.with_name(f"{number}.stderr")
    command = ["env", *given, sys.executable, "-I", str(program)]
    with out.open("wb") as stdout, err.open("wb") as stderr:
        process = subprocess.Popen(command, stdout=stdout, stderr=stderr, cwd=program.parent, start_new_session=True)
    return Rank(process, out, err)


def _wait(ranks: Sequence[Rank], until: float) -> None:
    """Until each process has ended, or one has failed: the others would wait for it."""
    while time.monotonic() < until:
        codes = [rank.process.poll() for rank in ranks]
        if None not in codes or any(codes):
            return
        time.sleep(0.02)


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


def _read_mistake(stderr: str, place: str) -> Mistake:
    """The error at the end of a traceback. Its line counts the hidden setup too, and so it is left out.

    A rank's lines begin with its name, and torch's own warnings may follow the error: `[W1123 ...`.
    """
    lines = re.sub(r"^\[rank\d+\]: ?", "", stderr, flags=re.MULTILINE).split("\n")
    last = next((line for line in reversed(lines) if line and line[0] not in " [\t"), "no message")
    kind, _, message = last.partition(":")
    return Mistake(type=kind, message=f"{place}{message.strip()}", traceback=stderr)
