"""Runs code of the course that needs a compiler: on this machine, outside the box, and only if its author asks.

The box allows no new process, so nothing can be compiled there. What runs here has the author's own rights, so it may
only be code of the course, never a reader's.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from graders.contract.hello import WorkerHello
from graders.contract.jobs import RunJob
from graders.contract.results import Measure, MeasuredBy, Mistake, Outcome, RunEnd

COMPILER = "g++"
"""What `torch.compile` calls on a CPU."""

WALL_SECONDS = 170.0
"""A first compilation takes some ten seconds, and a program may need several."""


def find_compiler() -> str:
    """The compiler's name and version in its own words, or nothing if there is none."""
    if not shutil.which(COMPILER):
        return ""
    said = subprocess.run([COMPILER, "--version"], capture_output=True, text=True, timeout=10, check=False).stdout
    return said.split("\n")[0].strip()


def with_compiler(hello: WorkerHello, compiler: str) -> WorkerHello:
    """The surroundings of a run outside the box, as evidence names them."""
    return hello.model_copy(update={"device": f"{hello.device} with {compiler}"})


def run_outside(jobs: Mapping[str, RunJob]) -> Iterator[tuple[str, RunEnd]]:
    """Runs each job in a fresh interpreter, one after the other, and yields its name and how it ended."""
    for name, job in jobs.items():
        with tempfile.TemporaryDirectory() as folder:
            yield name, _run(job, Path(folder))


def _run(job: RunJob, folder: Path) -> RunEnd:
    """In an empty folder that also holds what is compiled, so that no earlier compilation is found."""
    program = folder / "program.py"
    program.write_text(f"{job.setup}\n{job.source}\n", encoding="utf-8")
    command = ["env", f"TORCHINDUCTOR_CACHE_DIR={folder}", sys.executable, "-I", str(program)]
    started = time.monotonic()
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=WALL_SECONDS, cwd=folder, check=False)
    except subprocess.TimeoutExpired:
        mistake = Mistake(type="TimeoutExpired", message=f"still running after {WALL_SECONDS:.0f} seconds")
        return RunEnd(outcome=Outcome.TIME_LIMIT, mistake=mistake)
    seconds = round(time.monotonic() - started, 3)
    measures = (Measure(name="wall", value=seconds, unit="s", measured_by=MeasuredBy.JUDGE),)
    if ended.returncode == 0:
        return RunEnd(outcome=Outcome.OK, stdout=ended.stdout, stderr=ended.stderr, measures=measures)
    return RunEnd(outcome=Outcome.RUNTIME_ERROR, mistake=_read_mistake(ended.stderr), measures=measures)


def _read_mistake(stderr: str) -> Mistake:
    """The error at the end of a traceback. Its line counts the hidden setup too, and so it is left out."""
    last = next((line for line in reversed(stderr.split("\n")) if line and not line[0].isspace()), "no message")
    kind, _, message = last.partition(":")
    return Mistake(type=kind, message=message.strip(), traceback=stderr)
