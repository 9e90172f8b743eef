"""Finds the call that made a node, in a log of autograd's sequence numbers.

Every backward node gets the thread's next sequence number when it is made. Reading the counter before and after
a call gives the range of nodes which that call made, so that no tensor and no node has to be kept.
"""

from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from types import CodeType
from typing import Any, NamedTuple

Span = tuple[int, int, int, int]


class Site(NamedTuple):
    """A place in the learner's source, the instruction reached there, the module running and the function called."""

    code: CodeType | None
    instruction: int
    module: int
    function: Any


@dataclass(frozen=True)
class Origin:
    """The call that made a node. `is_last` marks the node of the call's result, as opposed to helper nodes."""

    site: Site
    start: int
    size: int
    is_last: bool
    is_inner: bool


class CallLog:
    """Ranges of sequence numbers: those of torch calls do not overlap; those of outer calls may nest."""

    def __init__(self, max_calls: int) -> None:
        self._starts = array("Q")
        self._ends = array("Q")
        self._sites: list[Site] = []
        self._lost = bytearray()
        self._known: dict[Site, Site] = {}
        self._marks = array("Q")
        self._mark_sites: list[Site | None] = []
        self._open: list[Site | None] = [None]
        self._max_calls = max_calls

    @property
    def latest(self) -> int:
        """The number that the next node gets, as far as the calls noted say."""
        return self._ends[-1] if self._ends else 0

    def note(self, before: int, after: int, site: Site, is_lost: bool = False) -> None:
        """Remember that the nodes numbered before <= n < after were made at `site`; `is_lost`: for no result."""
        if len(self._starts) >= self._max_calls:
            return
        if self._ends and before < self._ends[-1]:
            before = self._ends[-1]
        self._starts.append(before)
        self._ends.append(after)
        self._lost.append(is_lost)
        self._sites.append(self._known.setdefault(site, site))

    def enter(self, number: int, site: Site) -> None:
        """An outer call begins: nodes that it makes outside inner calls belong to `site`."""
        self._open.append(site)
        self._mark(number, site)

    def list_unseen(self, numbers: "array[int]") -> list[tuple[int, Site]]:
        """How many nodes the calls made of which none has one of these numbers, sorted, and where."""
        found: list[tuple[int, Site]] = []
        for start, end, site, is_lost in zip(self._starts, self._ends, self._sites, self._lost, strict=True):
            at = bisect_left(numbers, start)
            if not is_lost and (at == len(numbers) or numbers[at] >= end):
                found.append((end - start, site))
        return found

    def leave(self, number: int) -> None:
        """The innermost outer call ends."""
        self._open.pop()
        self._mark(number, self._open[-1])

    def _mark(self, number: int, site: Site | None) -> None:
        if self._marks and self._marks[-1] == number:
            self._mark_sites[-1] = site
        elif len(self._marks) < self._max_calls:
            self._marks.append(number)
            self._mark_sites.append(site)

    def find(self, number: int) -> Origin | None:
        """The innermost call that made the node with this number; None if no call of the program made it."""
        at = bisect_right(self._starts, number) - 1
        if at >= 0 and number < self._ends[at]:
            start, end = self._starts[at], self._ends[at]
            return Origin(self._sites[at], start, end - start, number == end - 1, True)
        at = bisect_right(self._marks, number) - 1
        site = self._mark_sites[at] if at >= 0 else None
        return None if site is None else Origin(site, self._marks[at], 0, False, False)


class SourceMap:
    """Turns instructions into spans of the source, columns counted in characters."""

    def __init__(self, source: str) -> None:
        self._lines = source.splitlines()
        self._spans: dict[CodeType, list[Span | None]] = {}

    def find_span(self, site: Site | None) -> Span | None:
        """The sub-expression that the instruction computes, or None outside the learner's source."""
        if site is None or site.code is None:
            return None
        spans = self._spans.get(site.code)
        if spans is None:
            spans = self._spans[site.code] = [self._read_span(each) for each in site.code.co_positions()]
        return spans[site.instruction // 2] if 0 <= site.instruction // 2 < len(spans) else None

    def _read_span(self, position: tuple[int | None, int | None, int | None, int | None]) -> Span | None:
        line, end_line, column, end_column = position
        if line is None or line < 1:
            return None
        last = end_line or line
        if column is None or end_column is None:
            return (line, 0, line, len(self._text_of(line)))
        return (line, self._count_characters(line, column), last, self._count_characters(last, end_column))

    def _text_of(self, line: int) -> str:
        return self._lines[line - 1] if line <= len(self._lines) else ""

    def _count_characters(self, line: int, offset: int) -> int:
        # CPython counts columns in UTF-8 bytes; a page counts characters.
        text = self._text_of(line)
        return offset if text.isascii() else len(text.encode()[:offset].decode(errors="ignore"))
