"""Makes a large process cheap to fork: freezes its objects, fills its heap and gathers it into huge pages."""

import bisect
import ctypes
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TextIO

HUGE_PAGE_BYTES: Final = 2 << 20
MADV_COLLAPSE: Final = 25
"""See madvise(2); Linux 6.1."""
PYTHON_SIZES: Final = tuple(range(512, 0, -16))
"""Python's own allocator has one list of free blocks for each of these sizes."""
LIBC_SIZES: Final = (*(1 << power for power in range(16, 10, -1)), *range(1032, 8, -16))
"""Largest first, so that a hole is filled with few blocks; from 1032 down, each size has its own list."""
MAX_FILLING_BYTES: Final = 64 << 20
"""For one size. An allocator that lays memory out otherwise than we expect stops here."""


@contextmanager
def importing() -> Iterator[None]:
    """Turn the garbage collector off for many imports: it would take a quarter of the time of torch's import."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def open_map() -> TextIO:
    """This process's memory map, opened early by a process that will have no /proc later. It can be read once."""
    return Path("/proc/self/maps").open(encoding="utf-8")


def rest(memory_map: TextIO) -> None:
    """Call when everything is imported, before the first fork.

    A child's garbage collector skips frozen objects; without this, one gc.collect() in a child copies 71 MB of pages.
    A fork copies one page table entry per huge page instead of 512, so with torch it takes a third of the time. A
    child's writes still copy 4 KiB each. A kernel that cannot gather pages leaves them as they are.
    """
    # The cache of attributes holds names all over the heap, and replacing an entry writes to the old name.
    ctypes.pythonapi.PyType_ClearCache()
    gc.collect()
    gc.freeze()
    regions = memory_map.read()
    _fill_holes(_list_spans(regions))
    libc = ctypes.CDLL(None)
    for start in _list_huge_pages(regions):
        libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(HUGE_PAGE_BYTES), MADV_COLLAPSE)


def _list_spans(memory_map: str) -> list[tuple[int, int]]:
    """(start, end) of each region, in ascending order, as the kernel lists them."""
    spans = (line.split("-", 1) for line in memory_map.splitlines())
    return [(int(start, 16), int(rest.split(maxsplit=1)[0], 16)) for start, rest in spans]


def _fill_holes(spans: list[tuple[int, int]]) -> None:
    """Use up the free blocks within `spans` for good, so that whatever is allocated later is in new memory.

    An allocator reuses free blocks wherever they are. After a fork, each of these writes would split another huge
    page, and every later fork would copy its 512 entries.
    """
    for library, name, sizes in (
        (ctypes.CDLL(None), "malloc", LIBC_SIZES),
        (ctypes.pythonapi, "PyObject_Malloc", PYTHON_SIZES),
    ):
        # Not CFUNCTYPE, which releases the interpreter's lock: Python's own allocator must not be called without it.
        allocate = ctypes.PYFUNCTYPE(ctypes.c_size_t, ctypes.c_size_t)((name, library))
        for size in sizes:
            _fill_with(allocate, size, spans)


def _fill_with(allocate: Callable[[int], int], size: int, spans: list[tuple[int, int]]) -> None:
    starts = [start for start, _ in spans]
    for _ in range(MAX_FILLING_BYTES // size):
        address = allocate(size)
        at = bisect.bisect_right(starts, address) - 1
        if at < 0 or address >= spans[at][1]:
            return


def _list_huge_pages(memory_map: str) -> Iterator[int]:
    """The addresses of possible huge pages: whole ones in private, writable memory that belongs to no file."""
    for line in memory_map.splitlines():
        span, rights, _, _, inode, *name = line.split(maxsplit=5)
        if rights != "rw-p" or inode != "0" or (name and not name[0].startswith(("[heap]", "[anon:"))):
            continue
        start, end = (int(address, 16) for address in span.split("-"))
        yield from range(-(-start // HUGE_PAGE_BYTES) * HUGE_PAGE_BYTES, end - HUGE_PAGE_BYTES + 1, HUGE_PAGE_BYTES)
