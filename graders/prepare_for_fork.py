"""Makes a large process cheap to fork: freezes its objects and gathers its memory into huge pages."""

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TextIO

HUGE_PAGE_BYTES: Final = 2 << 20
MADV_COLLAPSE: Final = 25
"""See madvise(2); Linux 6.1."""


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
    gc.collect()
    gc.freeze()
    libc = ctypes.CDLL(None)
    for start in _list_huge_pages(memory_map.read()):
        libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(HUGE_PAGE_BYTES), MADV_COLLAPSE)


def _list_huge_pages(memory_map: str) -> Iterator[int]:
    """The addresses of possible huge pages: whole ones in private, writable memory that belongs to no file."""
    for line in memory_map.splitlines():
        span, rights, _, _, inode, *name = line.split(maxsplit=5)
        if rights != "rw-p" or inode != "0" or (name and not name[0].startswith(("[heap]", "[anon:"))):
            continue
        start, end = (int(address, 16) for address in span.split("-"))
        yield from range(-(-start // HUGE_PAGE_BYTES) * HUGE_PAGE_BYTES, end - HUGE_PAGE_BYTES + 1, HUGE_PAGE_BYTES)
