"""A fold: a title that opens, any blocks inside, and what is said where one of them is missing."""

import pytest

from app.course.block_tree import Block, Reveal
from app.course.blocks import Prose
from app.course.chapter import ChapterParser
from app.course.language.typeset import Typesetter
from app.course.loader import KATEX
from app.course.questions.kinds import Question

HEAD = "---\ntitle: T\nsubtitle: S\nminutes: 1\nobjectives: [o]\nconcepts: [c]\n---\n\n"
QUESTION = """\
:::{question} how-many
:kind: number
:role: factual
:concepts: c
:value: 1
How many?

+++
One.
:::
"""


@pytest.fixture(scope="module")
def parser() -> ChapterParser:
    return ChapterParser(Typesetter(KATEX.read_text(encoding="utf-8")))


def parse(parser: ChapterParser, text: str) -> tuple[tuple[Block, ...], list[tuple[int, str]]]:
    parsed = parser.parse(HEAD + text, "chapters/x/chapter.md", "x")
    assert parsed.chapter
    problems = [(found.line, found.message) for found in parsed.problems if "minutes" not in found.message]
    return parsed.chapter.blocks, problems


def test_a_fold_is_its_title_and_what_it_folds_away(parser: ChapterParser) -> None:
    blocks, problems = parse(parser, ":::{fold} Why `x` keeps 4 bytes\nBecause it is a float.\n:::\n")

    title = "Why <code>x</code> keeps 4 bytes"
    assert (blocks, problems) == ((Reveal("fold", title, "", (Prose("<p>Because it is a float.</p>"),)),), [])


def test_a_question_may_be_folded_away(parser: ChapterParser) -> None:
    (fold,), _ = parse(parser, f"::::{{fold}} One more\n{QUESTION}::::\n")

    assert isinstance(fold, Reveal)
    [block] = fold.blocks
    assert isinstance(block, Question)


@pytest.mark.parametrize(
    ("text", "message"),
    [(":::{fold}\nText.\n:::\n", "{fold} has no title"), (":::{fold} A title\n:::\n", "{fold} is empty")],
)
def test_a_fold_without_its_title_or_its_text_is_reported(parser: ChapterParser, text: str, message: str) -> None:
    assert parse(parser, text)[1] == [(9, message)]
