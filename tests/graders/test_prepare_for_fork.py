"""A process that is at rest has its memory in huge pages, and its children see the same."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graders.prepare_for_fork import _list_huge_pages, _list_spans

ROOT = Path(__file__).resolve().parents[2]
MAPS = """\
555555554000-555555a00000 rw-p 00000000 00:00 0          [heap]
7f0000000000-7f0000400000 rw-p 00000000 00:00 0
7f0000500000-7f00008fffff rw-p 00000000 00:00 0
7f0001000000-7f0001400000 r--p 00000000 00:00 0
7f0002000000-7f0002400000 rw-p 00000000 08:01 77         /usr/lib/library.so
7f0003000000-7f0003400000 rw-s 00000000 00:00 0
7ffc00000000-7ffc00400000 rw-p 00000000 00:00 0          [stack]
"""
AT_REST = """
import os
from graders import prepare_for_fork
numbers = [bytes([index % 251]) * 1000 for index in range(20_000)]
prepare_for_fork.rest(prepare_for_fork.open_map())
rollup = dict(line.split(":") for line in open("/proc/self/smaps_rollup").read().splitlines()[1:])
child = os.fork()
if child == 0:
    right = all(number == bytes([index % 251]) * 1000 for index, number in enumerate(numbers))
    os._exit(0 if right else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), rollup["AnonHugePages"].split()[0])
"""

HOLES = """
import ctypes, gc
from graders import prepare_for_fork
from graders.prepare_for_fork import _list_spans
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_size_t
libc.free.argtypes = [ctypes.c_size_t]
kept = [[bytes(length) for _ in range(2000)] for length in range(8, 470, 7)]
blocks = [libc.malloc(size) for size in (40, 200, 700, 3000) for _ in range(500)]
for row in kept:
    del row[::2]
for block in blocks[::2]:
    libc.free(block)
spans = _list_spans(open("/proc/self/maps").read())
if FILLS:
    prepare_for_fork.rest(prepare_for_fork.open_map())
new = [bytes(length) for length in range(8, 470, 7) for _ in range(100)]
places = [id(one) for one in new] + [libc.malloc(size) for size in (40, 200, 700, 3000) for _ in range(100)]
print(sum(any(start <= place < end for start, end in spans) for place in places), len(places))
"""


def test_only_whole_huge_pages_of_private_writable_memory_that_is_no_files_are_gathered() -> None:
    assert [f"{start:x}" for start in _list_huge_pages(MAPS)] == [
        "555555600000",
        "555555800000",
        "7f0000000000",
        "7f0000200000",
        "7f0000600000",
    ]


def test_a_process_at_rest_has_huge_pages_and_its_child_the_same_contents() -> None:
    if tuple(int(part) for part in os.uname().release.split(".")[:2]) < (6, 1):
        pytest.skip("this kernel cannot gather pages (Linux 6.1)")
    told = subprocess.run(
        [sys.executable, "-c", AT_REST], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    status, huge_kib = map(int, told.stdout.split())
    assert status == 0
    assert huge_kib >= 8 * 1024


def test_the_regions_of_a_memory_map_are_spans_of_addresses() -> None:
    assert _list_spans(MAPS)[:2] == [(0x555555554000, 0x555555A00000), (0x7F0000000000, 0x7F0000400000)]


@pytest.mark.parametrize("fills", [False, True])
def test_what_a_process_at_rest_allocates_next_is_in_new_memory(fills: bool) -> None:
    said = subprocess.run(
        [sys.executable, "-c", HOLES.replace("FILLS", str(fills))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    in_old_memory, allocated = map(int, said.stdout.split())
    if fills:
        assert in_old_memory < allocated / 20
    else:
        assert in_old_memory > allocated / 2
