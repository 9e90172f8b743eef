"""A fault of the graders is never the course's."""

import pytest

from .conftest import Desk


@pytest.mark.parametrize("mode", ["dies", "dies-later", "babbles"])
def test_graders_that_fail_are_not_the_courses_fault(desk: Desk, mode: str) -> None:
    (desk.root / ".cache" / "check.json").unlink()

    said = desk.check(mode=mode)

    assert (said["status"], said["outcome"], said["problems"]) == (2, "fault", [])
    assert len(said["faults"]) == 1


def test_a_fault_during_one_run_says_which_and_leaves_the_others_proven(desk: Desk) -> None:
    desk.edit("total = 1 + 1", "total = 1 + 1  # the graders fail here")

    said = desk.check()

    assert said["status"] == 2
    assert said["faults"] == ["sums#adds: grader_fault"]


def test_a_fault_that_passes_is_run_once_more_and_forgotten(desk: Desk) -> None:
    desk.edit("total = 1 + 1", "total = 1 + 1  # the graders stumble here once")

    said = desk.check()

    assert (said["status"], said["faults"], said["repeated"]) == (0, [], 1)
