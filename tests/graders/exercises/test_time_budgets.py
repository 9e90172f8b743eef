"""The limits of time are for a whole submission, however many runs its cases need."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from graders.box.interface import Cause, Exit
from graders.contract.limits import Limits
from graders.contract.results import Outcome
from graders.judging.exits import find_time_left, join_exits

FIXTURE = Path(__file__).parents[1] / "fixtures" / "held-at-once"
LIMITS = Limits(cpu_seconds=4, wall_seconds=12)
RUN = Exit(Cause.STOPPED, None, None, cpu_seconds=1.5, wall_seconds=5.0, peak_memory_bytes=7)


@pytest.fixture
def hurried(tmp_path: Path) -> Path:
    """The exercise with three runs, two of them measured, and three seconds for all of them together."""
    folder = tmp_path / FIXTURE.name
    shutil.copytree(FIXTURE, folder)
    manifest = folder / "exercise.toml"
    manifest.write_text(manifest.read_text().replace("wall_seconds = 12.0", "wall_seconds = 3.0"))
    return folder


def sleepy(seconds: float) -> str:
    solution = (FIXTURE / "solution.py").read_text()
    slow = f"def total(*asked):\n    time.sleep({seconds})\n    return right(*asked)\n"
    return f"import time\n{solution}\nright = total\n{slow}"


def test_the_first_run_has_all_the_time() -> None:
    assert find_time_left(LIMITS, []) == LIMITS


def test_a_later_run_has_what_the_others_left() -> None:
    left = find_time_left(LIMITS, [RUN, RUN])

    assert left == LIMITS.model_copy(update={"cpu_seconds": 1.0, "wall_seconds": 2.0})


def test_waiting_for_a_processor_costs_the_next_run_nothing() -> None:
    assert find_time_left(LIMITS, [replace(RUN, waited_seconds=4.0)]).wall_seconds == 11.0


def test_a_wait_that_was_estimated_too_long_gives_the_next_run_no_more_than_the_limit() -> None:
    overestimated = replace(RUN, waited_seconds=RUN.wall_seconds + 3.0)
    assert find_time_left(LIMITS, [overestimated]).wall_seconds == LIMITS.wall_seconds


def test_where_nothing_is_left_a_run_ends_at_once() -> None:
    left = find_time_left(LIMITS, [RUN] * 3)

    assert 0 < left.cpu_seconds <= 0.001
    assert 0 < left.wall_seconds <= 0.001


def test_a_submission_reports_the_time_of_all_its_runs() -> None:
    joined = join_exits([RUN, RUN])

    assert (joined.cpu_seconds, joined.wall_seconds, joined.peak_memory_bytes) == (3.0, 10.0, 7)


@pytest.fixture
def meter(slot):
    if not slot.memory_cgroup:
        pytest.skip("this machine gives us no memory cgroup: nobody measures peak memory here")


@pytest.mark.box
def test_right_answers_that_take_the_time_of_one_run_each_do_not_pass(grade, meter, hurried) -> None:
    verdict = grade(hurried, sleepy(1.4))

    assert (verdict.outcome, verdict.cases_passed) == (Outcome.TIME_LIMIT, 2)
    assert verdict.finding.short == "Your code ran out of time (3 s)."


@pytest.mark.box
def test_time_that_is_up_before_a_case_is_prepared_is_the_submissions(grade, meter, hurried) -> None:
    probe = hurried / "probe.py"
    probe.write_text("import time\ntime.sleep(1)\n" + probe.read_text())

    verdict = grade(hurried, sleepy(1.3))

    assert (verdict.outcome, verdict.cases_passed) == (Outcome.TIME_LIMIT, 1)


@pytest.mark.box
def test_the_same_answers_in_time_pass(grade, meter, hurried) -> None:
    assert grade(hurried, sleepy(0.1)).outcome is Outcome.PASSED
