"""Comparisons of a class's programs: made in a thread, one at a time, and the newest few kept in memory.

What is kept has no names and no code: hashes of pieces of syntax, and the random ids that the caller gives authors.
"""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from app.learning.likeness import Comparison, Print, Unreadable, compare, make_print

KEPT = 8
PAIRS_KEPT = 100


@dataclass(frozen=True)
class Compared:
    """`comparison` has the most alike pairs only. `unreadable` are the authors whose text could not be read."""

    prints: Mapping[str, Print]
    comparison: Comparison
    unreadable: tuple[str, ...]


class Comparisons:
    """For one event loop."""

    def __init__(self) -> None:
        self._kept: OrderedDict[bytes, Compared] = OrderedDict()
        self._turn = asyncio.Lock()

    async def compare(self, texts: Mapping[str, str], starter: str, others: Mapping[str, str]) -> Compared:
        """Every author's text with every other's. `others`, such as the reference, are compared with all of them."""
        key = await asyncio.to_thread(_hash, texts, starter, others)
        async with self._turn:
            if key not in self._kept:
                self._kept[key] = await asyncio.to_thread(_compare, texts, starter, others)
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return self._kept[key]


def _hash(texts: Mapping[str, str], starter: str, others: Mapping[str, str]) -> bytes:
    digest = hashlib.sha256()
    for part in (*texts.items(), ("", starter), *others.items()):
        for word in part:
            digest.update(len(word).to_bytes(8, "big") + word.encode())
    return digest.digest()


def _compare(texts: Mapping[str, str], starter: str, others: Mapping[str, str]) -> Compared:
    prints, outside = _read(texts), _read(others)
    found = compare(prints, _read({"": starter}).get(""), outside)
    listed = Comparison(found.pairs[:PAIRS_KEPT], found.too_little, found.given)
    return Compared({**prints, **outside}, listed, tuple(name for name in texts if name not in prints))


def _read(texts: Mapping[str, str]) -> dict[str, Print]:
    prints = {}
    for name, text in texts.items():
        try:
            prints[name] = make_print(text)
        except Unreadable:
            continue
    return prints
