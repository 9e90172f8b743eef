"""A run obeys its limits, reports how it ended, and survives whatever the program, the caller or the zygote does."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from box_parts import TEST_LIMITS, make_request

from graders.box.interface import BoxClosed, BoxFault, BoxRequest, Cause, Profile
from graders.box.run import BoxRun
from graders.box.slot import Slot
from graders.contract.jobs import Flavour

pytestmark = pytest.mark.box

ECHO = """
import os
while data := os.read(0, 4096):
    os.write(3, data.upper())
"""


Start = Callable[[BoxRequest], BoxRun]


@pytest.fixture
def start(box: Slot) -> Iterator[Start]:
    """Runs that are over when the test is, however it ends."""
    runs: list[BoxRun] = []

    def begin(request: BoxRequest) -> BoxRun:
        runs.append(box.start(request))
        return runs[-1]

    yield begin
    for run in runs:
        with contextlib.suppress(BoxFault):
            run.stop()


def test_output_arrives_while_the_program_runs(run_cell: Any) -> None:
    pieces: list[tuple[str, bytes]] = []
    ending = run_cell(
        "import sys, time\nprint('one'); time.sleep(0.1); print('two', file=sys.stderr)",
        on_output=lambda stream, piece: pieces.append((stream, piece)),
    )

    assert pieces == [("stdout", b"one\n"), ("stderr", b"two\n")]
    assert (ending.exit.stdout, ending.exit.stderr) == (b"one\n", b"two\n")


def test_output_beyond_the_cap_ends_the_run_and_is_cut_there(run_cell: Any) -> None:
    ending = run_cell("while True: print('x' * 1000)")

    assert ending.exit.cause is Cause.OUTPUT_LIMIT
    assert ending.exit.output_truncated
    assert len(ending.exit.stdout) == TEST_LIMITS.output_kib * 1024


def test_messages_go_both_ways(start: Start) -> None:
    run = start(make_request(ECHO, Flavour.PLAIN, TEST_LIMITS))
    run.send(b"hello")
    assert run.receive(5) == b"HELLO"
    run.send(b"x" * 100_000)
    assert run.receive(100_000) == b"X" * 100_000
    assert run.stop().cause is Cause.STOPPED


def test_bytes_that_will_not_come_are_told_at_once(start: Start) -> None:
    run = start(make_request("import os; os.write(3, b'abc'); os._exit(7)", Flavour.PLAIN, TEST_LIMITS))
    with pytest.raises(BoxClosed, match="4 bytes were expected and 3 came"):
        run.receive(4)
    ending = run.wait()
    assert (ending.cause, ending.exit_code) == (Cause.EXITED, 7)


def test_sending_to_a_program_that_does_not_listen_ends(start: Start) -> None:
    run = start(make_request("import os; os.close(0); import time; time.sleep(9)", Flavour.PLAIN, TEST_LIMITS))
    with pytest.raises(BoxClosed):
        run.send(bytes(10_000_000))


def test_the_wall_limit_holds_for_a_program_that_only_waits(run_cell: Any) -> None:
    limits = TEST_LIMITS.model_copy(update={"wall_seconds": 0.3})
    ending = run_cell("import time; time.sleep(60)", limits=limits)

    assert ending.exit.cause is Cause.WALL_LIMIT
    assert 0.3 <= ending.exit.wall_seconds < 1.5


def test_the_cpu_limit_counts_fractions_of_a_second(run_cell: Any) -> None:
    limits = TEST_LIMITS.model_copy(update={"cpu_seconds": 0.25, "wall_seconds": 20})
    ending = run_cell("while True: pass", limits=limits)

    assert ending.exit.cause is Cause.CPU_LIMIT
    assert 0.25 <= ending.exit.cpu_seconds < 0.5


def test_a_run_is_stopped_from_another_thread(start: Start) -> None:
    run = start(make_request("import time; time.sleep(60)", Flavour.PLAIN, TEST_LIMITS))
    timer = threading.Timer(0.1, lambda: run.stop(Cause.CANCELLED))
    timer.start()
    started = time.monotonic()

    assert run.wait().cause is Cause.CANCELLED
    assert time.monotonic() - started < 1.5
    timer.join()


def test_stopping_twice_tells_the_same_end(start: Start) -> None:
    run = start(make_request("pass", Flavour.PLAIN, TEST_LIMITS))
    ending = run.wait()

    assert run.stop() is ending
    assert run.stop(Cause.CANCELLED) is ending


def test_a_slot_runs_one_request_at_a_time(start: Start) -> None:
    run = start(make_request("import time; time.sleep(60)", Flavour.PLAIN, TEST_LIMITS))
    with pytest.raises(BoxFault, match="stop it first"):
        start(make_request("pass", Flavour.PLAIN, TEST_LIMITS))
    assert not run.is_over


def test_a_crash_is_told_with_its_signal(run_cell: Any) -> None:
    ending = run_cell("import ctypes; ctypes.string_at(0)")

    assert (ending.exit.cause, ending.exit.signal) == (Cause.SIGNALLED, signal.SIGSEGV)


def test_too_much_memory_is_a_memory_error_on_its_line(run_cell: Any) -> None:
    limits = TEST_LIMITS.model_copy(update={"memory_mib": 128})
    ending = run_cell("x = 1\ny = bytearray(256 << 20)\n", limits=limits)

    assert ending.document["mistake"]["type"] == "MemoryError"
    assert ending.document["mistake"]["line"] == 2


def test_the_peak_of_memory_is_the_kernels(box: Slot, run_cell: Any) -> None:
    if not box.memory_cgroup:
        pytest.skip("no memory cgroup here")
    peaks = [run_cell(f"x = bytearray(b'1') * ({mib} << 20)").exit.peak_memory_bytes for mib in (16, 48)]

    assert peaks[1] - peaks[0] == pytest.approx(32 << 20, rel=0.02)


def test_two_runs_draw_different_numbers(run_cell: Any) -> None:
    source = "import random, numpy, torch\nprint(random.random(), numpy.random.rand(), torch.rand(1).item())"
    first, second = (run_cell(source, Flavour.TORCH).printed.split() for _ in range(2))

    assert [one != two for one, two in zip(first, second, strict=True)] == [True, True, True]


def test_a_learner_may_use_several_threads(run_cell: Any) -> None:
    source = """
import torch
torch.set_num_threads(2)
x = torch.randn(300, 300, requires_grad=True)
(x @ x).sum().backward()
print(torch.get_num_threads(), tuple(x.grad.shape))
"""
    assert run_cell(source, Flavour.TORCH).printed == "2 (300, 300)\n"


def test_the_plain_box_has_no_torch(run_cell: Any) -> None:
    assert run_cell("import torch").document["mistake"]["type"] == "ModuleNotFoundError"


def test_the_plain_box_has_numpy_and_nothing_of_what_lies_beside_it(run_cell: Any) -> None:
    source = """
import os, sys, numpy
sys.path.append(os.path.dirname(os.path.dirname(numpy.__file__)))
try:
    import torch
except (ImportError, PermissionError) as error:
    print(type(error).__name__ in ("ModuleNotFoundError", "PermissionError"))
"""
    assert run_cell(source).printed == "True\n"


def test_a_part_of_numpy_that_nobody_imported_ahead_can_be_imported(run_cell: Any) -> None:
    source = "import sys\nbefore = 'numpy.fft' in sys.modules\nimport numpy.fft\nprint(before, numpy.fft.fft([1, 0]))"

    assert run_cell(source).printed == "False [1.+0.j 1.+0.j]\n"


def test_two_plain_runs_draw_different_numbers_from_numpy(run_cell: Any) -> None:
    first, second = (run_cell("import numpy\nprint(numpy.random.rand())").printed for _ in range(2))

    assert first != second


def test_arrays_are_multiplied_within_a_small_limit_of_memory(run_cell: Any) -> None:
    source = "import numpy\na = numpy.ones((400, 400))\nprint((a @ a)[0, 0])"

    assert run_cell(source, limits=TEST_LIMITS.model_copy(update={"memory_mib": 32})).printed == "400.0\n"


def test_a_zygote_that_died_during_a_run_is_our_fault_and_is_replaced(box: Slot, start: Start, run_cell: Any) -> None:
    run = start(make_request("import time; time.sleep(60)", Flavour.PLAIN, TEST_LIMITS))
    os.kill(box.find_zygote(Flavour.PLAIN), signal.SIGKILL)

    with pytest.raises(BoxFault, match="zygote"):
        run.wait()
    assert run_cell("print('again')").printed == "again\n"


def test_a_zygote_that_died_between_runs_is_replaced(box: Slot, run_cell: Any) -> None:
    os.kill(box.find_zygote(Flavour.PLAIN), signal.SIGKILL)
    time.sleep(0.05)

    assert run_cell("print('again')").printed == "again\n"


@pytest.mark.parametrize("place", ["orders.send", "_make_pipes"])
def test_a_start_that_fails_is_our_fault_and_leaves_no_descriptor_and_no_group(
    box: Slot, run_cell: Any, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(24, "Too many open files")

    def list_leftovers() -> tuple[int, int]:
        box.replace_zygote(Flavour.PLAIN)
        groups = [folder for hierarchy in box._hierarchies for folder in hierarchy.folder.glob("**/run-*")]
        return len(list(Path("/proc/self/fd").iterdir())), len(groups)

    run_cell("print(1)")
    before = list_leftovers()
    for _ in range(3):
        with monkeypatch.context() as failing:
            failing.setattr(f"graders.box.slot.{place}", refuse)
            with pytest.raises(BoxFault, match="Too many open files"):
                run_cell("print(2)")
    assert list_leftovers() == before
    assert run_cell("print('again')").printed == "again\n"


def test_the_box_shows_no_host(run_cell: Any, profile: Profile) -> None:
    ending = run_cell("import os\nprint(os.getcwd(), os.uname().nodename, os.getpid(), sorted(os.environ))")

    if profile is not Profile.P3:
        assert ending.printed == "/tmp box 1 ['HOME', 'LANG', 'PATH', 'TMPDIR']\n"


def test_leaving_and_asking_are_ordinary(run_cell: Any) -> None:
    assert run_cell("input()").document["mistake"]["type"] == "EOFError"
    assert run_cell("exit(0)").outcome == "ok"


def test_the_profiler_works_and_writes_no_noise(run_cell: Any) -> None:
    source = """
import torch
from torch.profiler import profile
with profile() as seen:
    torch.ones(3, requires_grad=True).sum().backward()
print(len(seen.key_averages()) > 0)
"""
    ending = run_cell(source, Flavour.TORCH)

    assert (ending.printed, ending.exit.stderr) == ("True\n", b"")


def test_what_only_begins_like_noise_is_kept_and_counted(run_cell: Any) -> None:
    ending = run_cell("import os; os.write(2, b'Failed to read')")
    assert ending.exit.stderr == b"Failed to read"

    flood = "import os\nwhile True: os.write(2, b'Failed to read process name for pid ' * 100)"
    assert run_cell(flood).exit.cause is Cause.OUTPUT_LIMIT
