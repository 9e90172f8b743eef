"""The search over the course, whose index is built once for each version of the course."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from app.course.model import Course
from app.course.passages import Kind, gather_passages
from app.storage.searching import Found, PassageIndex

MAX_QUERY = 100
"""The longest query, in characters."""


@dataclass(frozen=True)
class _Indexed:
    course: Course
    index: PassageIndex
    counts: Mapping[Kind, int]


class CourseSearch:
    """Keeps the index of the newest course that was asked for. All readers share it: it holds nobody's own data."""

    def __init__(self) -> None:
        self._indexed: _Indexed | None = None
        self._building = asyncio.Lock()

    async def find(self, course: Course, searched: str, most: int) -> Found:
        indexed = await self._of(course)
        return await asyncio.to_thread(indexed.index.find, searched, most)

    async def count(self, course: Course) -> Mapping[Kind, int]:
        """How many passages of each kind there are to find."""
        return (await self._of(course)).counts

    async def _of(self, course: Course) -> _Indexed:
        async with self._building:
            if self._indexed is None or self._indexed.course is not course:
                self._indexed = await asyncio.to_thread(_index, course)
            return self._indexed


def _index(course: Course) -> _Indexed:
    passages = gather_passages(course)
    return _Indexed(course, PassageIndex(passages), Counter(passage.kind for passage in passages))
