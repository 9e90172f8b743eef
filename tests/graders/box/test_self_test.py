"""The self-test holds on this machine, and fails closed where a probe is broken or succeeds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graders.box.attempts import ATTEMPTS, Attempt, judge
from graders.box.self_test import run_self_test
from graders.box.slot import Slot

HERE = Path(__file__).parent
SELF_TEST_AS = """
import sys
from graders.box.errand import Profile
from graders.box.self_test import run_self_test
from graders.box.slot import open_box
box = open_box(profile=Profile(sys.argv[1]))
report = run_self_test(box)
box.close()
broken = [boundary for boundary in report.boundaries if not boundary.held]
sys.exit(0 if report.passed and report.profile == sys.argv[1] else str(broken))
"""


def test_a_probe_that_errors_is_broken_not_refused() -> None:
    def stumble() -> None:
        raise ValueError("a mistake of ours")

    assert judge(Attempt("stumble", stumble))["state"] == "broken"


def test_a_refusal_of_another_kind_is_broken() -> None:
    assert judge(Attempt("miss", lambda: Path("/nowhere/at/all").stat()))["state"] == "broken"


def test_a_probe_that_returns_has_succeeded() -> None:
    assert judge(Attempt("succeed", lambda: None))["state"] == "succeeded"


def test_there_are_at_least_forty_attempts_with_names_of_their_own() -> None:
    assert len({attempt.name for attempt in ATTEMPTS}) == len(ATTEMPTS) >= 40


@pytest.mark.box
def test_every_boundary_holds_on_this_machine(box: Slot) -> None:
    report = run_self_test(box)

    assert [boundary for boundary in report.boundaries if not boundary.held] == []
    assert report.passed
    assert report.profile is box.profile


@pytest.mark.box
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become an ordinary user")
@pytest.mark.parametrize("profile", ["P2", "P3"])
def test_the_weaker_profiles_hold_for_an_ordinary_user(profile: str) -> None:
    done = subprocess.run(
        [sys.executable, str(HERE / "as_ordinary_user.py"), sys.executable, "-c", SELF_TEST_AS, profile],
        cwd=HERE.parents[2],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
