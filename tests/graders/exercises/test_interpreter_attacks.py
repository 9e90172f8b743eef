"""Attacks from inside Python and torch: on descriptors, signals, clocks, texts, deep objects, the interpreter itself.

Each runs as a free cell, with and without the tracer. It ends in an ordinary verdict, prints ESCAPED nowhere, says
nothing unclean, and the next run on the same zygote is as if it had never been.
"""

import unicodedata
from pathlib import Path

import pytest
from attack_ends import OK, TIME
from attacks_on_the_interpreter import ON_THE_INTERPRETER
from attacks_on_the_process import ON_THE_PROCESS
from attacks_on_the_report import ON_THE_REPORT
from attacks_on_torch import ON_TORCH
from test_cells import run

from graders.contract.jobs import Flavour
from graders.contract.limits import Limits
from graders.contract.results import RunEnd

LIMITS = Limits(cpu_seconds=2.0, wall_seconds=3.0, memory_mib=512, output_kib=16)
REPOSITORY = Path(__file__).resolve().parents[3]

CLEAN = """
import builtins, codecs, gc, os, signal, sys, threading, warnings, torch
assert not [name for name in ("PWNED", "HELD") if hasattr(builtins, name) or hasattr(torch, name)], "names"
assert sys.gettrace() is None and sys.getprofile() is None or "tracer" in str(sys.gettrace()), "trace"
assert threading.active_count() <= 2, "threads"
assert "LD_PRELOAD" not in os.environ and len(os.environ) <= 6, "environment"
assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, "signals"
assert int("7") == 7 and len([1]) == 1 and not False and 0 + 0 == 0, "numbers"
assert "\\ud800".encode("ascii", "backslashreplace") == b"\\\\ud800", "codecs"
assert all(type(finder).__module__ != "__main__" for finder in sys.meta_path), "import"
assert torch.get_num_threads() >= 1 and torch.get_default_dtype() is torch.float32, "torch"
try:
    own = {path.split("/")[2] for path in sys.path if path.startswith("/tmp/")}
    assert set(os.listdir("/tmp")) <= own, "files"
except PermissionError:
    pass
x = torch.ones(3, requires_grad=True)
(x * 2).sum().backward()
assert x.grad.tolist() == [2.0, 2.0, 2.0], "gradient"
print("clean")
"""
ATTACKS = {**ON_THE_PROCESS, **ON_THE_REPORT, **ON_TORCH, **ON_THE_INTERPRETER}

pytestmark = [pytest.mark.box]


def assert_told_cleanly(end: RunEnd) -> None:
    """Nothing that a page shows can move a cursor, turn a text around or stand alone as half a character."""
    texts = [end.stdout, end.stderr, end.trace_refused]
    texts += [end.mistake.type, end.mistake.message, end.mistake.traceback] if end.mistake else []
    texts += [end.finding.short, end.finding.long] if end.finding else []
    for text in texts:
        unclean = {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs") and c not in "\n\t"}
        assert not unclean, unclean
    if end.mistake:
        assert str(REPOSITORY) not in end.mistake.traceback
        assert "site-packages" not in end.mistake.traceback


@pytest.mark.parametrize("traced", [False, True], ids=["plain", "traced"])
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_on_the_interpreter_ends_in_order_and_the_next_run_is_clean(slot, name, traced):
    allowed, source = ATTACKS[name]
    end = run(slot, source, want_trace=traced, limits=LIMITS)
    # The tracer looks at what the program touches: it may cost a program's time, never more.
    assert end.outcome in (allowed | {TIME} if traced else allowed), (end.outcome, end.mistake, end.stderr)
    assert "ESCAPED" not in end.stdout + end.stderr
    assert_told_cleanly(end)
    after = run(slot, CLEAN, limits=LIMITS)
    assert (after.outcome, after.stdout, after.stderr) == (OK, "clean\n", ""), after.mistake


def test_what_one_run_knew_no_later_run_finds(slot):
    run(slot, "import builtins\nbuiltins.KEPT = ['CANARY-' + 'OF-ANOTHER'] * 1000", flavour=Flavour.PLAIN)
    seek = """
import ctypes, gc
found = [t for t in gc.get_objects() if isinstance(t, list) and t and t[0] == 'CANARY-' + 'OF-ANOTHER']
print('ESCAPED' if found else 'clean')
"""
    assert run(slot, seek, flavour=Flavour.PLAIN).stdout == "clean\n"


def test_another_allocator_hides_no_memory(slot):
    if not slot.memory_cgroup:
        pytest.skip("this machine gives us no memory cgroup: nobody measures peak memory here")
    source = """
import ctypes
libc = ctypes.CDLL(None)
libc.mallopt(-3, 1 << 30); libc.mallopt(-1, 1 << 30)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
place = libc.malloc(200 << 20); ctypes.memset(place, 1, 200 << 20)
"""
    end = run(slot, source, flavour=Flavour.PLAIN, limits=LIMITS)
    peak = next(measure.value for measure in end.measures if measure.name == "peak memory")
    assert peak >= 200
