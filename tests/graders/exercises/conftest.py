"""A slot with both fork-servers and one reference process, for every exercise and every attack."""

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graders.attacks.judged import Judge
from graders.box.interface import Profile
from graders.box.profiles import probe_profile
from graders.box.slot import Slot, open_box
from graders.contract.jobs import GradeJob
from graders.contract.manifest import Attempt
from graders.contract.model import ExerciseName
from graders.contract.results import Outcome, Verdict
from graders.judging.run_job import run_job
from graders.trusted.exercise import load_exercise
from graders.trusted.reference import ReferenceServer

Grade = Callable[..., Verdict]


def read_cases(folder: Path) -> str:
    return (folder / "cases.py").read_text()


@pytest.fixture(scope="session")
def slot() -> Iterator[Slot]:
    """Of the best profile of this machine, or no stronger than UNWIND_PROFILE."""
    wished = os.environ.get("UNWIND_PROFILE")
    box = open_box(profile=probe_profile(Profile(wished) if wished else None))
    yield box
    box.close()


@pytest.fixture(scope="session")
def reference() -> Iterator[ReferenceServer]:
    with contextlib.closing(ReferenceServer()) as server:
        server.warm(with_torch=True)
        yield server


@pytest.fixture(scope="session")
def judge(slot: Slot, reference: ReferenceServer) -> Judge:
    """As `python -m graders attack` uses it."""
    return Judge(slot, reference)


@pytest.fixture(scope="session")
def grade(slot: Slot, reference: ReferenceServer) -> Grade:
    """Judge a source as an answer to the exercise in a folder, in the real box."""

    def grade(folder: Path, source: str, attempt: Attempt | None = None, *, may_skip: bool = True) -> Verdict:
        said = load_exercise(folder.parent, folder.name).manifest.diagnosed_by(attempt)
        job = GradeJob(exercise=ExerciseName(folder.name), source=source, diagnosed=said)
        verdict = run_job(job, slot, folder.parent, reference, lambda kind, body: None, threading.Event())
        assert isinstance(verdict, Verdict)
        faulted = may_skip and verdict.outcome is Outcome.GRADER_FAULT
        if faulted and not slot.memory_cgroup and '"peak"' in read_cases(folder):
            pytest.skip("this machine gives us no memory cgroup: such a case is the grader's fault")
        return verdict

    return grade
