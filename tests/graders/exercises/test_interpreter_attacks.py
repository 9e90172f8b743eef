"""Attacks from inside Python and torch: on descriptors, signals, clocks, texts, deep objects, the interpreter itself.

Each runs as a free cell, with and without the tracer. It ends in an ordinary verdict, prints ESCAPED nowhere, says
nothing unclean, and the next run on the same zygote is as if it had never been.
"""

import pytest
from test_cells import run

from graders.attacks.attempt import TOO_BUSY, Result
from graders.attacks.corpus import CellAttack, Group, list_cell_attacks
from graders.attacks.judged import CELL_LIMITS, Judge, find_unclean, try_through_judge
from graders.contract.jobs import Flavour
from graders.contract.results import Mistake, Outcome, RunEnd

pytestmark = [pytest.mark.box]


@pytest.mark.parametrize("attack", list_cell_attacks(), ids=lambda attack: f"{attack.id} {attack.title}")
def test_an_attack_on_the_interpreter_ends_in_order_and_the_next_run_is_clean(
    judge: Judge, attack: CellAttack
) -> None:
    attempted = try_through_judge(judge, attack)

    if attempted.reason == TOO_BUSY:
        pytest.skip(TOO_BUSY)
    assert attempted.result is Result.HELD, attempted.reason


def test_a_cell_that_leaves_something_behind_is_seen(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = CellAttack(
        id="X1", group=Group.TORCH, title="quiet", allowed=frozenset({Outcome.OK}), source="1", traced=False
    )
    monkeypatch.setattr("graders.attacks.judged.CLEAN", "assert False, 'a thread'")

    attempted = try_through_judge(judge, quiet)

    assert (attempted.result, "the next run was not clean" in attempted.reason) == (Result.ESCAPED, True)


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (RunEnd(outcome=Outcome.OK, stdout="caf\u00e9\tok\n"), ""),
        (RunEnd(outcome=Outcome.OK, stdout="\u202e\x1b"), "U+001B, U+202E"),
        (
            RunEnd(
                outcome=Outcome.RUNTIME_ERROR,
                mistake=Mistake(type="E", message="", traceback="in /x/site-packages/y.py"),
            ),
            "site-packages",
        ),
    ],
    ids=["ordinary text", "control characters", "a path of ours"],
)
def test_what_a_page_could_not_show_safely_is_found(end: RunEnd, said: str) -> None:
    assert (said in find_unclean(end), bool(find_unclean(end))) == (True, bool(said))


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
    end = run(slot, source, flavour=Flavour.PLAIN, limits=CELL_LIMITS)
    peak = next(measure.value for measure in end.measures if measure.name == "peak memory")
    assert peak >= 200
