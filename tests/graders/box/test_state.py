"""Which mounts of a root are planned, wherever the interpreter is installed."""

from dataclasses import replace

import pytest

from graders.box.interpreter import plan_root
from graders.box.jail.orders import RootPlan
from graders.box.state import _find_flags, _is_planned, _Mount
from graders.contract.jobs import Flavour


@pytest.fixture
def plan() -> RootPlan:
    """As on a host whose virtual environment is under /tmp."""
    return replace(plan_root(Flavour.PLAIN), readable=("/usr/lib/python3.11", "/tmp/clone/.venv/numpy"))


@pytest.mark.parametrize(
    "point", ["/", "/tmp", "/tmp/clone", "/tmp/clone/.venv/numpy", "/under/tmp/clone/.venv/numpy"]
)
def test_an_interpreter_under_the_scratch_folder_is_shown_again_in_it(plan: RootPlan, point: str) -> None:
    assert _is_planned(point, plan)


@pytest.mark.parametrize("point", ["/tmp/other", "/tmp/clon", "/tmp/clone/else", "/home", "/usr/lib"])
def test_no_other_mount_is_planned(plan: RootPlan, point: str) -> None:
    assert not _is_planned(point, plan)


def test_the_folder_in_which_it_is_shown_runs_nothing(plan: RootPlan) -> None:
    folder = _Mount("/tmp/clone", frozenset({"ro"}), is_shared=False, kind="tmpfs", settings={})
    assert _find_flags(folder, plan) == {"ro", "nosuid", "nodev", "noexec"}
