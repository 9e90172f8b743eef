"""Full-text search over passages: an index in memory, apart from the site's database, whichever that is."""

import re
import sqlite3
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

from app.course.passages import Kind, Passage

MAX_WORDS = 12
"""How many words of a query count; each further one only makes it slower."""
SNIPPET_WORDS = 18
HEADING_WEIGHT = 8.0
CLAIM_WEIGHT = 0.4
"""A claim's heading is a whole sentence, so it has most words of the subject; a section about them comes first."""
WORD = re.compile(r"\w+")
BLANKS = re.compile(r"\s+")
BEGIN, END = "\x02", "\x03"
"""Stand around a word that was found, until the text is cut there: no course text has such characters."""

CREATE = """
create virtual table passages using fts5 (
    heading, body, weight unindexed, tokenize = "porter unicode61 remove_diacritics 2 tokenchars '_'", prefix = '2 3'
)
"""
FIND = f"""
select rowid, highlight(passages, 0, ?, ?) as heading, snippet(passages, 1, ?, ?, ' … ', {SNIPPET_WORDS}) as body
from passages where passages match ? order by bm25(passages, {HEADING_WEIGHT}, 1.0) * weight limit ?
"""


@dataclass(frozen=True)
class Piece:
    """A part of a text; `found` if it is one of the words that were searched for."""

    text: str
    found: bool


@dataclass(frozen=True)
class Hit:
    """A passage that was found, with its heading and the words around the find."""

    passage: Passage
    heading: tuple[Piece, ...]
    snippet: tuple[Piece, ...]


@dataclass(frozen=True)
class Found:
    """The best hits first. `whole` is false if no passage has all the words, and the hits have some of them."""

    hits: tuple[Hit, ...]
    whole: bool


class PassageIndex:
    """An index that never changes. It may be asked from any thread."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = tuple(passages)
        self._lock = Lock()
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        # An index is replaced while a thread may still search in the old one; the last that lets go of it closes it.
        weakref.finalize(self, self._connection.close)
        self._connection.execute(CREATE)
        rows = ((number, one.heading, one.body, _weigh(one)) for number, one in enumerate(self._passages))
        self._connection.executemany("insert into passages (rowid, heading, body, weight) values (?, ?, ?, ?)", rows)

    def find(self, searched: str, most: int) -> Found:
        """The passages with all words of `searched`, the last of them as a beginning; else those with any of them."""
        words = words_in(searched)
        if not words:
            return Found((), True)
        hits = self._match(" ".join(words), most)
        if hits or len(words) == 1:
            return Found(hits, True)
        return Found(self._match(" OR ".join(words), most), False)

    def close(self) -> None:
        self._connection.close()

    def _match(self, expression: str, most: int) -> tuple[Hit, ...]:
        with self._lock:
            rows = self._connection.execute(FIND, (BEGIN, END, BEGIN, END, expression, most)).fetchall()
        return tuple(Hit(self._passages[number], _cut(heading), _cut(body)) for number, heading, body in rows)


def words_in(searched: str) -> tuple[str, ...]:
    """The words of a query, each quoted, so that no operator of the query language can get in."""
    words = [f'"{word}"' for word in WORD.findall(searched)[:MAX_WORDS]]
    return (*words[:-1], f"{words[-1]} *") if words else ()


def _weigh(passage: Passage) -> float:
    return CLAIM_WEIGHT if passage.kind is Kind.CLAIM else 1.0


def _cut(marked: str) -> tuple[Piece, ...]:
    pieces = []
    for part in re.split(f"({BEGIN}[^{END}]*{END})", BLANKS.sub(" ", marked)):
        if part:
            found = part.startswith(BEGIN)
            pieces.append(Piece(part.strip(BEGIN + END) if found else part, found))
    return tuple(pieces)
