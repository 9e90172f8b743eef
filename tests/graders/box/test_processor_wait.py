"""What a busy machine took from a run is the kernel's count, and extends the run's wall time up to a bound."""

import contextlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from box_parts import TEST_LIMITS

from graders.box.interface import Cause
from graders.box.processor_wait import ProcessorWait, extend_wall_limit


class FakeProc:
    """A folder as the kernel shows it: threads with their delays, and the machine's ticks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.set_ticks(busy=1000, stolen=50)

    def set_delays(self, **seconds: float) -> None:
        for thread, delay in seconds.items():
            task = self.folder / "7" / "task" / thread
            task.mkdir(parents=True, exist_ok=True)
            (task / "schedstat").write_text(f"123456 {int(delay * 1e9)} 9\n")

    def set_ticks(self, busy: int, stolen: int) -> None:
        (self.folder / "stat").write_text(f"cpu  {busy} 0 0 99999 0 0 0 {stolen} 0 0\ncpu0 1 2 3\n")

    def end_thread(self, thread: str) -> None:
        (self.folder / "7" / "task" / thread / "schedstat").unlink()
        (self.folder / "7" / "task" / thread).rmdir()


@pytest.fixture
def proc(tmp_path: Path) -> FakeProc:
    return FakeProc(tmp_path)


def test_the_most_delayed_thread_counts_from_the_beginning_of_the_run(proc: FakeProc) -> None:
    proc.set_delays(main=1.0)
    wait = ProcessorWait(7, proc.folder)
    proc.set_delays(main=1.5, helper=3.0)

    assert wait.read_seconds(0.0) == pytest.approx(2.0)


def test_a_thread_that_ended_keeps_its_delay(proc: FakeProc) -> None:
    proc.set_delays(main=0.0, helper=3.0)
    wait = ProcessorWait(7, proc.folder)
    proc.set_delays(helper=4.0)
    wait.read_seconds(0.0)
    proc.end_thread("helper")

    assert wait.read_seconds(0.0) == pytest.approx(1.0)


def test_what_the_host_stole_counts_in_proportion_to_what_the_run_computed(proc: FakeProc) -> None:
    wait = ProcessorWait(7, proc.folder)
    proc.set_ticks(busy=1100, stolen=100)

    assert wait.read_seconds(2.0) == pytest.approx(1.0)
    assert wait.read_seconds(0.0) == 0.0


def test_what_the_kernel_does_not_show_counts_as_no_wait(tmp_path: Path) -> None:
    assert ProcessorWait(7, tmp_path).read_seconds(5.0) == 0.0


@pytest.mark.parametrize(("waited", "extended"), [(-1.0, 10.0), (0.0, 10.0), (4.0, 14.0), (20.0, 30.0), (99.0, 30.0)])
def test_a_limit_is_extended_by_what_was_waited_and_never_more_than_tripled(waited: float, extended: float) -> None:
    assert extend_wall_limit(10.0, waited) == extended


@pytest.mark.box
def test_a_program_that_shares_its_processor_is_not_ended_for_what_others_took(run_cell: Any) -> None:
    limits = TEST_LIMITS.model_copy(update={"cpu_seconds": 5, "wall_seconds": 0.7})
    compute = "import time\nwhile time.process_time() < 0.5: pass"
    with contextlib.ExitStack() as others:
        for _ in range(4):
            other = others.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            others.callback(other.kill)
        ending = run_cell(compute, limits=limits).exit

    assert ending.cause is Cause.EXITED or ending.machine_was_busy


@pytest.mark.box
def test_a_program_that_sleeps_is_ended_by_its_wall_limit_and_the_machine_is_not_blamed(run_cell: Any) -> None:
    limits = TEST_LIMITS.model_copy(update={"wall_seconds": 0.5})
    ending = run_cell("import time; time.sleep(60)", limits=limits).exit

    assert ending.cause is Cause.WALL_LIMIT
    assert not ending.machine_was_busy


@pytest.mark.box
def test_threads_that_take_the_processor_from_each_other_are_ended_by_the_cpu_limit(run_cell: Any) -> None:
    limits = TEST_LIMITS.model_copy(update={"cpu_seconds": 0.5, "wall_seconds": 30})
    spin = "import threading\ndef spin():\n    while True: pass\n"
    fight = spin + "for _ in 'abc': threading.Thread(target=spin).start()\nspin()"

    assert run_cell(fight, limits=limits).exit.cause is Cause.CPU_LIMIT
