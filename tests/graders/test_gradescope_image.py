"""The zip for Gradescope, from setup.sh to results.json, in a container laid out as Gradescope documents it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CANNOT_BE_TRIED = 77


@pytest.mark.box
@pytest.mark.nightly
def test_the_zip_sets_itself_up_and_grades() -> None:
    """Needs root, overlay mounts, and a network from which setup.sh installs what it needs."""
    command = [str(ROOT / "tools" / "prove_gradescope"), str(ROOT / "tests" / "course" / "exercises" / "double")]
    proof = subprocess.run(command, env={**os.environ, "PYTHON": sys.executable}, capture_output=True, text=True)

    if proof.returncode == CANNOT_BE_TRIED:
        pytest.skip(f"Gradescope's container {proof.stderr.strip()}")
    lines = proof.stdout.splitlines()
    assert proof.returncode == 0, proof.stdout + proof.stderr
    assert [line.partition(", profile")[0] for line in lines] == [
        "solution: 2 of 2 points",
        "starter: 0 of 2 points",
        "nothing: Hand in one Python file.",
    ]
