"""The self-test holds on this machine, and fails closed where a probe is broken or succeeds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graders.box import mothers
from graders.box.attempts import ATTEMPTS, Attempt, judge
from graders.box.interface import Profile
from graders.box.interpreter import python_command
from graders.box.self_test import run_self_test
from graders.box.slot import Slot, open_boxes
from graders.contract.jobs import Flavour

HERE = Path(__file__).parent
SELF_TEST_AS = """
import sys
from graders.box.interface import Profile
from graders.box.self_test import run_self_test
from graders.box.slot import open_box
box = open_box(profile=Profile(sys.argv[1]))
report = run_self_test([box])
box.close()
broken = [boundary for boundary in report.boundaries if not boundary.held]
sys.exit(0 if report.passed and report.profile == sys.argv[1] else str(broken))
"""


NO_SECCOMP = "seccomp.install_filter = lambda code: None"
NO_LANDLOCK = "landlock.restrict = lambda version, grants: None"
IN_TORCH = """
from graders.box.jail import landlock, mother, seccomp
read = mother.orders.read_setup
def read_and_remove(fields):
    if fields["flavour"] == "torch":
        {layer}
    return read(fields)
mother.orders.read_setup = read_and_remove
"""
IN_SLOT_2 = """
from graders.box.jail import landlock, mother, seccomp
make, made = mother.ZygoteOrder, []
def make_and_remove(**fields):
    made.append(fields)
    if len(made) == 2:
        {layer}
    return make(**fields)
mother.ZygoteOrder = make_and_remove
"""


def put_in_front(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """Run this before the mothers' own program."""
    monkeypatch.setattr(mothers, "python_command", lambda code: python_command(program + code))


def prove(count: int, profile: Profile) -> dict[str, bool]:
    """Boundary -> whether it held."""
    boxes = open_boxes(count, tuple(Flavour), profile)
    try:
        return {boundary.name: boundary.held for boundary in run_self_test(boxes).boundaries}
    finally:
        for slot in boxes:
            slot.close()


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
    report = run_self_test([box])

    assert [boundary for boundary in report.boundaries if not boundary.held] == []
    assert report.passed
    assert report.profile is box.profile


@pytest.mark.box
def test_every_flavour_and_every_slot_is_asked(profile: Profile) -> None:
    held = prove(2, profile)

    asked = [attempt.name for attempt in ATTEMPTS]
    asked += ["endless loop", "every attempt in slot 2", "leave a trace for slot 2"]
    assert {f"{name} ({flavour})" for name in asked for flavour in Flavour} <= held.keys()
    assert [name for name, held_it in held.items() if not held_it] == []


@pytest.mark.box
@pytest.mark.parametrize(
    ("layer", "missed"),
    [pytest.param(NO_SECCOMP, "fork", marks=pytest.mark.nightly), (NO_LANDLOCK, "list the root folder")],
)
def test_a_layer_that_one_flavour_lacks_is_missed(
    layer: str, missed: str, profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    if profile is Profile.P3:
        pytest.skip("without namespaces, what gets through reaches the host")
    put_in_front(monkeypatch, IN_TORCH.format(layer=layer))

    held = prove(1, profile)

    assert not held[f"{missed} (torch)"]
    assert held[f"{missed} (plain)"]


@pytest.mark.box
@pytest.mark.nightly
def test_a_layer_that_one_slot_lacks_is_missed(profile: Profile, monkeypatch: pytest.MonkeyPatch) -> None:
    if profile is Profile.P3:
        pytest.skip("without namespaces, what gets through reaches the host")
    monkeypatch.setattr(
        mothers, "python_command", lambda code: python_command(IN_SLOT_2.format(layer=NO_SECCOMP) + code)
    )

    held = prove(2, profile)

    assert not held["every attempt in slot 2 (plain)"]
    assert [name for name, held_it in held.items() if not held_it and "slot 2" not in name] == []


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
