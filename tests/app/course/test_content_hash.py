"""The hash of a wording: it changes with what the author wrote of a block, and with nothing else."""

import hashlib

import pytest

from app.course.block_tree import blocks_of
from app.course.blocks import Predict
from app.course.chapter import ChapterParser
from app.course.language.typeset import Typesetter
from app.course.loader import KATEX
from app.course.questions.question import QuestionBase

HEAD = """\
---
title: Sums
subtitle: They add.
minutes: 5
objectives: [Add]
concepts: [adding]
---
"""

PREDICT = """\
:::{predict} guess
:resolved-by: prints
What is printed?

- [x] Two
  > Yes.
- [ ] Three
  > No.

+++
Two.
:::"""

QUESTION = """\
:::{question} how-many
:kind: number
:role: factual
:concepts: adding
:variant: sums
What is ${{a}} + {{b}}$?

- [ ] {{product}}
  > That is the product.

+++
{{answer}}.
:::"""

VARIANT = """\
```{variant} sums
:draws: 4
:flavour: plain
def draw(rng):
    a, b = rng.randint(3, 9), rng.randint(3, 9)
    return {"a": a, "b": b, "answer": a + b, "product": a * b}
```"""

CELL = """\
```{cell} prints
:flavour: plain
print(2)
```"""

CHAPTER = "\n\n".join((HEAD, PREDICT, CELL, VARIANT, QUESTION)) + "\n"


@pytest.fixture(scope="module")
def parser() -> ChapterParser:
    return ChapterParser(Typesetter(KATEX.read_text(encoding="utf-8")))


def hashes(parser: ChapterParser, text: str) -> tuple[str, str]:
    """Of the prediction and of the question."""
    parsed = parser.parse(text, "chapter.md", "sums")
    assert parsed.problems == ()
    assert parsed.chapter
    (predict,) = blocks_of(Predict, parsed.chapter.blocks)
    (question,) = blocks_of(QuestionBase, parsed.chapter.blocks)
    return predict.content_hash, question.content_hash


def test_it_is_made_of_the_lines_and_of_the_code_of_the_variant(parser: ChapterParser) -> None:
    code = "\n".join(VARIANT.split("\n")[3:-1])

    assert hashes(parser, CHAPTER) == tuple(
        hashlib.sha256(wording.encode()).hexdigest()[:16] for wording in (PREDICT, f"{QUESTION}\n{code}")
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("What is printed?", "What will be printed?"),
        ("- [x] Two\n  > Yes.\n- [ ] Three\n  > No.", "- [ ] Three\n  > No.\n- [x] Two\n  > Yes."),
        ("  > No.", "  > No: there are two of them."),
        ("+++\nTwo.", "+++\nTwo, as it was written."),
    ],
)
def test_any_edit_of_a_prediction_changes_its_hash_alone(parser: ChapterParser, old: str, new: str) -> None:
    before, after = hashes(parser, CHAPTER), hashes(parser, CHAPTER.replace(old, new))

    assert before[0] != after[0]
    assert before[1] == after[1]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("What is ${{a}}", "How much is ${{a}}"),
        ("> That is the product.", "> That is the product of the two."),
        ("{{answer}}.\n:::", "It is {{answer}}.\n:::"),
        ("rng.randint(3, 9), rng", "rng.randint(2, 9), rng"),
    ],
)
def test_an_edit_of_a_question_or_of_its_variant_changes_its_hash_alone(
    parser: ChapterParser, old: str, new: str
) -> None:
    before, after = hashes(parser, CHAPTER), hashes(parser, CHAPTER.replace(old, new))

    assert before[0] == after[0]
    assert before[1] != after[1]


@pytest.mark.parametrize(
    "text",
    [
        CHAPTER.replace(":draws: 4", ":draws: 12"),
        CHAPTER.replace(PREDICT, f"Words before it.\n\n{PREDICT}"),
        "\n\n".join((HEAD, VARIANT, QUESTION, CELL, PREDICT)),
        CHAPTER.replace(QUESTION, f"::::{{aside}}\n{QUESTION}\n::::"),
        CHAPTER.replace("What is printed?\n", "What is printed?  \n"),
        CHAPTER.replace("rng.randint(3, 9)\n", "rng.randint(3, 9) \n"),
    ],
    ids=["more draws", "words before", "another order", "inside a box", "blanks at an end", "blanks in the code"],
)
def test_where_a_block_stands_and_how_many_draws_it_has_do_not_count(parser: ChapterParser, text: str) -> None:
    assert text != CHAPTER
    assert hashes(parser, text) == hashes(parser, CHAPTER)
