"""What tells an operator which program a grader is."""

import tomllib
from pathlib import Path

from graders.contract.product import VERSION

ROOT = Path(__file__).resolve().parents[3]


def test_the_version_that_graders_tell_is_that_of_the_project() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == VERSION
