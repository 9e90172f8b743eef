"""What a worker opens: a runner per slot behind a real box, a hello that says what was proven, and no remains."""

import os
import threading
from pathlib import Path

import pytest

from graders.contract.jobs import Flavour, RunJob
from graders.contract.results import Outcome, RunEnd
from graders.contract.settings import GraderSettings
from graders.trusted.exercise_folders import one_folder
from graders.worker.open_worker import open_worker

pytestmark = [pytest.mark.box, pytest.mark.slow]


def find_children() -> set[str]:
    listed = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return {child for file in listed for child in file.read_text().split()}


def test_every_slot_runs_jobs_and_nothing_is_left_when_the_worker_is_closed(tmp_path: Path) -> None:
    before = find_children()
    job = RunJob(source="print(6 * 7)", flavour=Flavour.PLAIN, want_trace=False)

    with open_worker(GraderSettings(slots=2), one_folder(tmp_path), proven=False) as worker:
        ends = [runner(job, lambda kind, body: None, threading.Event()) for runner in worker.runners]
        assert find_children() > before

    assert [(end.outcome, end.stdout) for end in ends if isinstance(end, RunEnd)] == [(Outcome.OK, "42\n")] * 2
    assert find_children() == before


@pytest.mark.nightly  # proves every boundary once more, as tests/graders/box/test_self_test.py does each time
def test_a_worker_claims_the_boundaries_that_it_has_proven_and_no_others(tmp_path: Path) -> None:
    with open_worker(GraderSettings(slots=1), one_folder(tmp_path)) as worker:
        assert worker.hello.self_test_passed == worker.hello.self_test_total > 40
    with open_worker(GraderSettings(slots=1), one_folder(tmp_path), proven=False) as worker:
        assert (worker.hello.self_test_passed, worker.hello.self_test_total) == (0, 0)
