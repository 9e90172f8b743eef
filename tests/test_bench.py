"""Each bench finds what it imports when it is started as `make bench` starts it: by its path, from anywhere."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parent.parent / "bench"

START = """
import runpy, sys
bench, *files = sys.argv[1:]
clean = sys.path[1:]
for file in files:
    # As a fresh interpreter would look, but with torch imported once for all.
    sys.path[:] = [bench, *clean]
    for name in [name for name in sys.modules if name.split(".")[0] in ("app", "graders", "tracer", "unwind")]:
        del sys.modules[name]
    runpy.run_path(file, run_name="started")
    print(file)
"""

pytestmark = [pytest.mark.torch, pytest.mark.nightly]


def test_every_bench_starts(tmp_path: Path) -> None:
    files = sorted(str(path) for path in BENCH.glob("*.py"))

    ended = subprocess.run(
        [sys.executable, "-c", START, str(BENCH), *files], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert files
    assert ended.stdout.split() == files, ended.stderr
