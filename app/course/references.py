"""What a chapter's research boxes refer to: papers, documentation and libraries, open questions. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from app.course.block_tree import Block, Box
from app.course.blocks import Html, Prose

BOX = "research"
ITEM = re.compile(r"<li>(.*?)</li>", re.DOTALL)
TITLE = re.compile(r"<em>(.*?)</em>", re.DOTALL)
TAG = re.compile(r"<[^>]+>")
YEAR = re.compile(r"\b(18|19|20)\d\d\b")
OPEN = ("An open question:", "Open:")


class ReferenceKind(StrEnum):
    """Told from how an item is written; docs/writing-a-chapter.md says how."""

    PAPER = "paper"
    """It has a title in italics and a year."""
    OPEN_QUESTION = "open question"
    LIBRARY = "library"
    """Documentation, a library or a tool: every other item."""


@dataclass(frozen=True)
class Reference:
    """One item of a list. `title` tells whether two chapters mean the same paper; `words` are to sort by."""

    kind: ReferenceKind
    html: Html
    title: str
    words: str


def read_references(blocks: Iterable[Block]) -> tuple[Reference, ...]:
    """The items of a chapter's boxes; `blocks` are all of its blocks, in reading order."""
    boxes = (block for block in blocks if isinstance(block, Box) and block.kind == BOX)
    texts = (inner.html for box in boxes for inner in box.blocks if isinstance(inner, Prose))
    return tuple(_read_item(html.strip()) for text in texts for html in ITEM.findall(text))


def _read_item(html: str) -> Reference:
    words = " ".join(TAG.sub("", html).split())
    title = TITLE.search(html)
    if words.startswith(OPEN):
        kind = ReferenceKind.OPEN_QUESTION
    elif title and YEAR.search(words):
        kind = ReferenceKind.PAPER
    else:
        kind = ReferenceKind.LIBRARY
    named = TAG.sub("", title.group(1)) if title else words
    return Reference(kind, html, " ".join(named.casefold().split()), words)
