"""`make gpu-acceptance` without a card: it says so, and a line that fails is told in its table."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).resolve().parents[3] / "tools" / "gpu_acceptance.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gpu_acceptance", TOOL)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["gpu_acceptance"] = module
    spec.loader.exec_module(module)
    return module


def test_without_a_card_nothing_is_tried_and_the_status_says_so() -> None:
    if Path("/dev/nvidiactl").exists():
        pytest.skip("a card is here: run make gpu-acceptance")
    done = subprocess.run([sys.executable, str(TOOL)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("nothing was tried: no card: /dev/nvidiactl, ")


def test_the_table_names_what_did_not_hold(tool: ModuleType) -> None:
    def breaks(bench: object) -> object:
        raise OSError("the driver is gone")

    lines = [tool.Line("one", "2 of 2", True), tool.try_one(breaks, None)]
    assert tool.write_table(lines, "a machine").splitlines() == [
        "a machine",
        "",
        "| tried | seen | |",
        "|---|---|---|",
        "| one | 2 of 2 | held |",
        "| breaks | OSError: the driver is gone | **not held** |",
    ]
