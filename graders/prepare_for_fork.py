"""Makes a large process cheap to fork: its objects at rest, its memory in huge pages."""

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
    """For many imports: a collector that looks again and again at what is to stay takes a quarter of torch's."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def open_map() -> TextIO:
    """This process's memory, for whoever will have no /proc when it is ready; read it once."""
    return Path("/proc/self/maps").open(encoding="utf-8")


def rest(memory_map: TextIO) -> None:
    """Call once everything is imported, before the first fork.

    Frozen objects are never traversed in a child: without this one gc.collect() there copies 71 MB of pages. And a
    fork copies one entry for a huge page and 512 for small ones: with torch it costs a third. A child's
    writes still copy 4 KiB each. A kernel that cannot gather pages leaves them as they are.
    """
    gc.collect()
    gc.freeze()
    libc = ctypes.CDLL(None)
    for start in _list_huge_pages(memory_map.read()):
        libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(HUGE_PAGE_BYTES), MADV_COLLAPSE)


def _list_huge_pages(memory_map: str) -> Iterator[int]:
    """Addresses of what could be a huge page: whole ones in private, writable memory that is no file's."""
    for line in memory_map.splitlines():
        span, rights, _, _, inode, *name = line.split(maxsplit=5)
        if rights != "rw-p" or inode != "0" or (name and not name[0].startswith(("[heap]", "[anon:"))):
            continue
        start, end = (int(address, 16) for address in span.split("-"))
        yield from range(-(-start // HUGE_PAGE_BYTES) * HUGE_PAGE_BYTES, end - HUGE_PAGE_BYTES + 1, HUGE_PAGE_BYTES)
