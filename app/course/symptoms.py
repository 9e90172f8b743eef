"""The tables of symptoms in a chapter's boxes: each row has a symptom, where to look, and what to type. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from app.course.block_tree import Block, Box
from app.course.blocks import Heading, Html, Prose

BOX = "debug"
ROW = re.compile(r"<tr>(.*?)</tr>", re.DOTALL)
FIELD = re.compile(r"<td[^>]*>(.*?)</td>", re.DOTALL)
TAG = re.compile(r"<[^>]+>")
FIELDS = 3


@dataclass(frozen=True)
class Symptom:
    """`words` is the whole row as plain text in lower case, to be searched."""

    symptom: Html
    look: Html
    command: Html
    words: str


@dataclass(frozen=True)
class SymptomTable:
    """`anchor` is the section of the chapter's first box."""

    anchor: str
    rows: tuple[Symptom, ...]


def read_symptoms(blocks: Iterable[Block]) -> SymptomTable:
    """The rows of a chapter's boxes; `blocks` are all of its blocks, in reading order."""
    rows: list[Symptom] = []
    section = anchor = ""
    for block in blocks:
        if isinstance(block, Heading):
            section = block.anchor
        if isinstance(block, Box) and block.kind == BOX:
            rows += [row for inner in block.blocks if isinstance(inner, Prose) for row in _rows_in(inner.html)]
            anchor = anchor or section
    return SymptomTable(anchor, tuple(rows))


def _rows_in(html: Html) -> list[Symptom]:
    """The body rows of tables that our own renderer made; rows with a different number of cells are skipped."""
    rows = (FIELD.findall(row) for row in ROW.findall(html))
    fields = [(*row, TAG.sub("", " ".join(row)).lower()) for row in rows if len(row) == FIELDS]
    return [Symptom(symptom, look, command, words) for symptom, look, command, words in fields]
