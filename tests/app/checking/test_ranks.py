"""Code that needs two ranks runs as two real processes outside the box, and its errors name the rank."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.checking.outside import find_tools, run_outside
from app.course.loader import load_course
from app.web.edge.rendering import Renderer
from app.web.views.presenting import ChapterState, present_claim
from graders.contract.jobs import RunJob
from graders.contract.results import Outcome, RunEnd

from .conftest import Desk

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]

RANKED = """
```{measure} both
:needs: ranks
:alt: Two numbers
:exact:
import os

result = {"rank": [int(os.environ["RANK"])], "size": [int(os.environ["WORLD_SIZE"])]}
```

```{measure} simulated
:agrees-with: both
:alt: Two numbers
:exact:
result = {"size": [2], "other": [5]}
```

```{claim} at-rank-zero
:needs: ranks
The same code runs in each rank, and the first one's output counts.
---
import os

assert os.environ["MASTER_ADDR"] == "127.0.0.1"
```

:::{question} click"""


def page_of_the_claim(desk: Desk) -> str:
    course, _ = load_course(desk.root)
    claim = course.chapters[0].index.claims["at-rank-zero"]
    return Renderer().block(present_claim(claim, ChapterState(course, course.chapters[0])))


def run(source: str, limit: float = 20.0) -> RunEnd:
    ((_, end),) = run_outside({"it": (RunJob(source=source), "ranks")}, {"ranks": limit})
    return end


def test_what_needs_ranks_runs_only_when_asked_and_its_evidence_says_where(desk: Desk) -> None:
    desk.edit(":::{question} click", RANKED.lstrip())

    without = desk.check("--update")
    first = desk.check("--update", "--outside")
    again = desk.check("--update", "--outside")

    assert (without["waiting_outside"], again["waiting_outside"]) == ({"ranks": 2}, {})
    assert {found["rule"] for found in first["problems"]} == {"measures-disagree"}
    assert again["status"] == 0
    assert desk.evidence()["at-rank-zero"]["device"] == "cpu with 2 processes on loopback"
    assert "held on cpu with 2 processes on loopback" in page_of_the_claim(desk)
    table = json.loads((desk.chapter.parent / "measures" / "both.json").read_text())
    assert (table["columns"], table["device"]) == ({"rank": [0], "size": [2]}, "cpu with 2 processes on loopback")


def test_a_simulation_that_differs_from_the_real_ranks_is_reported_with_the_number(desk: Desk) -> None:
    desk.edit(":::{question} click", RANKED.lstrip())
    desk.check("--update", "--outside")
    desk.edit('"size": [2]', '"size": [3]')

    (found,) = desk.check("--update")["problems"]

    assert (found["rule"], found["value"]) == ("measures-disagree", "size: 3 for 2")


@pytest.mark.parametrize(
    ("written", "value"),
    [(":agrees-with: bath", "no other measurement"), ('"length": [2], "other"', "no common column")],
)
def test_a_simulation_that_cannot_be_compared_says_why(desk: Desk, written: str, value: str) -> None:
    before = ":agrees-with: both" if written.startswith(":") else '"size": [2], "other"'
    desk.edit(":::{question} click", RANKED.lstrip())
    desk.check("--update", "--outside")
    desk.edit(before, written)

    (found,) = desk.check("--update")["problems"]

    assert value in found["message"]


def test_a_rank_that_raises_is_named_and_the_other_is_stopped_at_once() -> None:
    end = run("import os, time\nif os.environ['RANK'] == '1':\n    raise ValueError('no data')\ntime.sleep(60)")

    assert end.outcome is Outcome.RUNTIME_ERROR
    assert end.mistake is not None
    assert (end.mistake.type, end.mistake.message) == ("ValueError", "in rank 1: no data")


def test_a_rank_that_reached_its_last_line_has_held_whatever_its_cleanup_would_do() -> None:
    end = run("import atexit, os\natexit.register(os._exit, 6)\nprint('whole')")

    assert (end.outcome, end.stdout) == (Outcome.OK, "whole\n")


def test_a_rank_that_hangs_is_named_with_the_time() -> None:
    end = run("import os, time\nif os.environ['RANK'] == '1':\n    time.sleep(60)", limit=1.0)

    assert end.outcome is Outcome.TIME_LIMIT
    assert end.mistake is not None
    assert end.mistake.message == "rank 1 was still running after 1 seconds"


def failure_of(source: str, limit: float = 20.0) -> tuple[str, str]:
    mistake = run(source, limit).mistake
    assert mistake is not None
    return mistake.type, mistake.message


ONE_RAISES_FIRST = """
import os, pathlib, threading, time
gone = pathlib.Path("gone")
if os.environ["RANK"] == "1":
    {first}
    try:
        raise ValueError("no data")
    finally:
        gone.touch()
while not gone.exists():
    time.sleep(0.001)
time.sleep(0.1)
raise RuntimeError("connection lost")
"""


@pytest.mark.parametrize("first", ["pass", "threading.Thread(target=time.sleep, args=(60,)).start()"])
def test_the_rank_that_failed_first_is_named_and_not_the_one_that_lost_its_partner(first: str) -> None:
    """A thread that goes on keeps an interpreter alive, and used to hide its error behind the other rank's."""
    assert failure_of(ONE_RAISES_FIRST.format(first=first)) == ("ValueError", "in rank 1: no data")


def test_a_rank_that_raises_and_then_hangs_while_it_ends_is_reported_by_its_error() -> None:
    hangs = "import atexit, os, time\natexit.register(time.sleep, 60)\n"

    found = failure_of(hangs + "if os.environ['RANK'] == '1':\n    raise ValueError('no data')\ntime.sleep(60)", 5.0)

    assert found == ("ValueError", "in rank 1: no data")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("raise ValueError('two lines:\\nthe second: here')", ("ValueError", "two lines:\nthe second: here")),
        ("raise ValueError", ("ValueError", "no message")),
        ("import json\njson.loads('{')", ("json.decoder.JSONDecodeError", "Expecting property name")),
        ("class Late(Exception):\n    pass\nraise Late('by a day')", ("Late", "by a day")),
        ("import sys\nprint('a warning: old', file=sys.stderr)\nsys.exit(3)", ("SystemExit", "3")),
        (
            "import atexit, sys\natexit.register(print, 'a: b', file=sys.stderr)\n1 / 0",
            ("ZeroDivisionError", "division"),
        ),
        ("x = (", ("SyntaxError", "'(' was never closed")),
    ],
)
def test_an_error_is_reported_with_its_own_type_and_whole_message(written: str, expected: tuple[str, str]) -> None:
    kind, message = failure_of(written)

    assert kind == expected[0]
    assert message.removeprefix("in rank 0: ").removeprefix("in rank 1: ").startswith(expected[1])


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", ("SIGSEGV", "in rank 1: the process was ended by this signal")),
        ("os._exit(7)", ("ExitCode", "in rank 1: the process ended with code 7 and no error")),
    ],
)
def test_a_rank_that_ends_without_an_error_says_how_and_is_named_before_its_partner(
    written: str, expected: tuple[str, str]
) -> None:
    partner = (
        "pid = int(there.read_text())\nwhile os.path.exists(f'/proc/{pid}') and 'Z' not in state(pid):\n    pass"
    )
    source = f"""
import os, pathlib, signal
there = pathlib.Path("there")
def state(pid):
    return pathlib.Path(f"/proc/{{pid}}/stat").read_text().rpartition(")")[2][:3]
if os.environ["RANK"] == "1":
    there.with_name("half").write_text(str(os.getpid()))
    there.with_name("half").rename(there)
    {written}
while not there.exists():
    pass
{partner}
raise RuntimeError("connection lost")
"""
    assert failure_of(source) == expected


STARTER = """
import sys
from app.checking.outside import run_outside
from graders.contract.jobs import RunJob

source = "import os, pathlib, time\\npathlib.Path(FOLDER, os.environ['RANK']).write_text(f'{os.getpid()}')\\n"
source = source.replace("FOLDER", repr(sys.argv[1])) + "time.sleep(60)"
list(run_outside({"it": (RunJob(source=source), "ranks")}))
"""


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_no_rank_outlives_the_check_that_started_it(tmp_path: Path, ending: signal.Signals) -> None:
    check = subprocess.Popen([sys.executable, "-c", STARTER, str(tmp_path)], cwd=ROOT, start_new_session=True)
    while not all((tmp_path / rank).exists() and (tmp_path / rank).read_text().strip() for rank in "01"):
        assert check.poll() is None
    ranks = [int((tmp_path / rank).read_text()) for rank in "01"]

    check.send_signal(ending)
    check.wait()

    deadline = time.monotonic() + 20
    while running := [rank for rank in ranks if is_running(rank)]:
        if time.monotonic() > deadline:
            for rank in running:
                os.kill(rank, signal.SIGKILL)
            pytest.fail(f"still running: {running}")


def is_running(process: int) -> bool:
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def test_a_table_that_rank_zero_does_not_leave_is_missed(desk: Desk) -> None:
    desk.edit(
        ":::{question} click", RANKED.lstrip().replace("import os\n\nresult", "import os\n\nos._exit(0)\nresult")
    )

    problems = desk.check("--update", "--outside")["problems"]

    assert any("'both' failed: it printed no table" in found["message"] for found in problems)


SUMMED = """
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
x = torch.tensor([1.0 + dist.get_rank()])
dist.all_reduce(x)
{extra}
dist.destroy_process_group()
print(x.item())
"""


@pytest.mark.torch
@pytest.mark.slow
def test_two_ranks_sum_over_gloo_and_a_rank_that_leaves_is_the_one_named() -> None:
    assert "ranks" in find_tools()
    leaves = "if dist.get_rank() == 1:\n    raise RuntimeError('left')\ndist.all_reduce(x)"

    assert run(SUMMED.format(extra="")).stdout == "3.0\n"
    mistake = run(SUMMED.format(extra=leaves)).mistake
    assert mistake is not None
    assert (mistake.type, mistake.message) == ("RuntimeError", "in rank 1: left")
