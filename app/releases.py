"""`python -m app releases`: runs the course's claims on other releases of torch, and keeps a table of the results.

Each release gets an environment of its own, under .cache/torch. Claims run in the box there too.
"""

import argparse
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from app.checking.stream import AnyResult, GraderFault, GraderStream
from app.checking.writing import replace_file
from app.course.blocks import Claim
from app.course.checking.evidence import hash_claim
from app.course.checking.hidden_setup import claim_job
from app.course.checking.judging import say_end
from app.course.claim_status import read_release
from app.course.loader import load_course, load_releases
from app.course.release_changes import list_claims
from app.course.releases import FILE, ClaimResult, ReleaseRun, ReleasesFile, write_releases
from graders.contract.jobs import RunJob
from graders.contract.results import Outcome, RunEnd

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.lock"
ENVIRONMENTS = Path(".cache") / "torch"
NAMED_USER = "from os import environ\nenviron.setdefault('USER', 'learner')\n"
"""torch.compile asked for the user's name up to 2.12, and the user of a box has none."""

DONE, NOT_ALL = 0, 1


def main(arguments: Sequence[str], graders: Sequence[str] | None = None) -> int:
    """Exit status: 0 every release was run, 1 the course cannot be read or a release could not be run.

    `graders` is the command of the graders to ask, instead of those of an environment that is made.
    """
    given = read_arguments(arguments)
    root = given.course.resolve()
    course, problems = load_course(root)
    for problem in problems:
        sys.stderr.write(f"{problem.path}:{problem.line}: {problem.message}\n")
    if problems:
        return NOT_ALL
    claims, failures = list_claims(course), 0
    for release in given.releases:
        sys.stdout.write(f"torch {release}: {len(claims)} claims\n")
        sys.stdout.flush()
        try:
            run = run_claims(graders or _find_graders(given, root, release), claims)
        except (ReleaseMissing, GraderFault) as fault:
            failures += 1
            sys.stderr.write(f"torch {release} was not run: {fault}\n")
            replace_file(root / FILE, write_releases(_note_missing(load_releases(root)[0], release, str(fault))))
            continue
        replace_file(root / FILE, write_releases(_note_run(load_releases(root)[0], run)))
        failed = sum(bool(result.message) for result in run.claims.values())
        sys.stdout.write(f"torch {run.build}: {len(claims) - failed} claims held, {failed} did not\n")
    return NOT_ALL if failures else DONE


def _find_graders(given: argparse.Namespace, root: Path, release: str) -> list[str]:
    python = given.python or make_environment(root / ENVIRONMENTS / release, release)
    return [python, "-m", "graders", "stream", "--exercises", str(root / "exercises")]


def read_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m app releases",
        description="Run the course's claims on other releases of torch. Each gets an environment of up to 6 GB.",
    )
    parser.add_argument("releases", nargs="+", metavar="RELEASE", help="such as 2.12.1")
    parser.add_argument("--course", type=Path, default=Path(), help="the folder with course.toml (this one)")
    parser.add_argument(
        "--python", default="", help="run one release with this interpreter, which has torch and requirements.lock"
    )
    given = parser.parse_args(arguments)
    if given.python and len(given.releases) > 1:
        parser.error("--python is the interpreter of one release; name one")
    return given


class ReleaseMissing(Exception):
    """No environment with this release could be made. The message says at which step, and the last words of it."""


def make_environment(folder: Path, release: str) -> str:
    """The interpreter of an environment with this torch and with what graders need. Raises ReleaseMissing."""
    python, made = folder / "bin" / "python", folder / "made"
    if made.exists():
        return str(python)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    steps = {
        "no environment could be made": [sys.executable, "-m", "venv", "--clear", str(folder)],
        "it could not be installed": [*pip, f"torch=={release}"],
        "what graders need could not be installed beside it": [*pip, "--require-hashes", "-r", str(LOCK)],
        "it does not work with our numpy": [str(python), "-c", "import numpy, torch; torch.ones(1).numpy()"],
    }
    for problem, step in steps.items():
        done = subprocess.run(step, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ReleaseMissing(f"{problem}: {_say_last(done.stderr) or f'status {done.returncode}'}")
    made.touch()
    return str(python)


def _say_last(words: str) -> str:
    """The last line that pip calls an error, or else the last line."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")]
    return (errors or lines or [""])[-1]


def run_claims(graders: Sequence[str], claims: Mapping[str, Claim]) -> ReleaseRun:
    """Each claim's result on the torch of these graders. Raises GraderFault."""
    jobs = {name: _give_user(claim_job(claim)) for name, claim in claims.items()}
    with GraderStream(graders) as stream:
        hello = stream.read_hello()
        results = dict(stream.run(jobs))
        # A busy machine can fail a run: what did not hold gets a second one.
        failed = {name: jobs[name] for name, result in results.items() if _read_failure(result, claims[name])}
        results |= stream.run(failed)
    return ReleaseRun(
        build=hello.torch,
        python=hello.python,
        ran_on=datetime.now(UTC).date().isoformat(),
        claims={
            name: ClaimResult(content=hash_claim(claim), message=_read_failure(results[name], claim))
            for name, claim in claims.items()
        },
    )


def _give_user(job: RunJob) -> RunJob:
    return job.model_copy(update={"setup": NAMED_USER + job.setup})


def _read_failure(result: AnyResult, claim: Claim) -> str:
    """Why the claim did not hold, or nothing. An assert without words of its own is told by its line."""
    assert isinstance(result, RunEnd)
    if result.outcome is Outcome.OK:
        return ""
    mistake, lines = result.mistake, claim.code.split("\n")
    if mistake and mistake.line and not mistake.message and mistake.line <= len(lines):
        return f"{mistake.type}: {lines[mistake.line - 1].strip()}"
    return say_end(result)


def _note_run(file: ReleasesFile, run: ReleaseRun) -> ReleasesFile:
    release = read_release(run.build)
    missing = {name: why for name, why in file.not_run.items() if name != release}
    return file.model_copy(update={"runs": {**file.runs, release: run}, "not_run": missing})


def _note_missing(file: ReleasesFile, release: str, why: str) -> ReleasesFile:
    if release in file.runs:
        return file
    return file.model_copy(update={"not_run": {**file.not_run, release: why}})
