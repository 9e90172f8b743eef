"""Each right that Landlock withholds is withheld by it alone, also those that another layer refuses in the box."""

import subprocess
import sys
from pathlib import Path

import pytest
from landlock_right import ACTS

from graders.box.jail import landlock

SCOPED = {"net": landlock.NET_VERSION, "scope": landlock.SCOPE_VERSION, "refer": 2, "truncate": 3}


@pytest.mark.box
@pytest.mark.parametrize("right", ACTS)
def test_what_is_not_granted_is_refused(right: str, tmp_path: Path) -> None:
    if landlock.find_version() < SCOPED.get(right, 1):
        pytest.skip(f"this kernel's Landlock does not know {right}")
    program = [sys.executable, str(Path(__file__).with_name("landlock_right.py")), right, str(tmp_path)]

    freely, confined = subprocess.run(program, capture_output=True, text=True, check=True).stdout.split()

    if freely != "done" and ("device" in right or "pipe" in right):
        pytest.skip(f"this user may not make a {right.removeprefix('make ')}: {freely}")
    assert freely == "done"
    assert confined in ("EACCES", "EPERM", "EXDEV")
