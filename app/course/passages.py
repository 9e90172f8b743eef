"""The passages of a course that its search knows: what every reader may see before they have done anything. Pure.

What a reader has to earn is left out: answers and their explanations, what a prediction resolves to, checked outputs,
measured tables, hints, solutions, and the text of folds and of interview questions, which hold answers.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from app.course.block_tree import Block, Box, Reveal, blocks_within
from app.course.blocks import (
    Cell,
    Claim,
    DrillPlace,
    ExerciseLink,
    Graph,
    Heading,
    Illustration,
    Incident,
    LadderPlace,
    Measure,
    Predict,
    Prose,
    Steps,
)
from app.course.flow import Flow
from app.course.language.plain_text import words_of
from app.course.model import Chapter, Course, Exercise, Term
from app.course.questions.question import QuestionBase

SECTION_LEVELS = (2, 3)
"""The levels of the headings that begin a passage, as in a chapter's contents."""
HOLDING_ANSWERS = ("interview", "fold")
"""The kinds of reveals whose text stays out."""


class Kind(StrEnum):
    """What a hit of the search is, in the reader's words."""

    SECTION = "section"
    TERM = "glossary"
    CLAIM = "claim"
    EXERCISE = "exercise"
    DEBUGGING = "debugging"
    NOTE = "your note"
    """Only in an index of one reader's own notes."""


@dataclass(frozen=True)
class Passage:
    """A piece of the course with its own address. `number` and `within` name its chapter, if it is in one."""

    kind: Kind
    href: str
    heading: str
    body: str
    number: str = ""
    within: str = ""


def gather_passages(course: Course) -> tuple[Passage, ...]:
    """Every passage, chapters first, in the order of the course."""
    return (
        *(passage for chapter in course.chapters for passage in _of_chapter(chapter)),
        *map(_of_term, course.glossary),
        *map(_of_exercise, course.exercises.values()),
        *(_of_flow(course.debugging) if course.debugging else ()),
    )


def _of_chapter(chapter: Chapter) -> Iterator[Passage]:
    href, about = f"/chapters/{chapter.slug}", " ".join(map(words_of, chapter.objectives))
    heading, anchor, texts = chapter.title, "", [words_of(chapter.subtitle), about]
    for block in chapter.blocks:
        if isinstance(block, Heading) and block.level in SECTION_LEVELS:
            yield _section(chapter, heading, anchor, texts)
            heading, anchor, texts = block.text, f"#{block.anchor}", []
        else:
            texts += texts_of(block)
    yield _section(chapter, heading, anchor, texts)
    for claim in blocks_within(chapter.blocks):
        if isinstance(claim, Claim):
            place = f"{href}#{claim.id}"
            body = words_of(claim.myth)
            yield Passage(Kind.CLAIM, place, words_of(claim.sentence), body, chapter.number, chapter.title)


def _section(chapter: Chapter, heading: str, anchor: str, texts: Iterable[str]) -> Passage:
    body = " ".join(text for text in texts if text)
    return Passage(Kind.SECTION, f"/chapters/{chapter.slug}{anchor}", heading, body, chapter.number, chapter.title)


def texts_of(block: Block) -> list[str]:  # noqa: C901 - one flat match over a closed union
    """What a block says to a reader who has not answered, run or opened anything in it."""
    match block:
        case Prose():
            return [words_of(block.html)]
        case Heading():
            return [block.text]
        case Predict() | QuestionBase():
            return [words_of(block.prompt)]
        case Cell():
            return [words_of(block.caption), block.source]
        case Measure():
            return texts_of(block.cell)
        case Graph():
            return [words_of(block.caption), block.alt, block.source]
        case Illustration():
            return [words_of(block.caption), block.alt]
        case Steps():
            return [words_of(block.intro), *texts_of(block.cell)]
        case Incident():
            return [words_of(block.title), words_of(block.story), *texts_of(block.cell)]
        case ExerciseLink() | DrillPlace():
            return [words_of(block.note)]
        case Box():
            return [words_of(block.title), *_texts_within(block.blocks)]
        case Reveal():
            opened = () if block.kind in HOLDING_ANSWERS else block.blocks
            return [words_of(block.prompt), *_texts_within(opened)]
        case Claim() | LadderPlace():
            return []
        case _:
            assert_never(block)


def _texts_within(blocks: Iterable[Block]) -> list[str]:
    return [text for block in blocks for text in texts_of(block)]


def _of_term(term: Term) -> Passage:
    return Passage(Kind.TERM, f"/glossary#{term.id}", term.name, words_of(term.html))


def _of_exercise(exercise: Exercise) -> Passage:
    manifest = exercise.manifest
    body = f"{manifest.summary} {words_of(exercise.prompt)}"
    return Passage(Kind.EXERCISE, f"/exercises/{exercise.name}", manifest.title, body)


def _of_flow(flow: Flow) -> Iterator[Passage]:
    for step in flow.steps:
        body = f"{words_of(step.text)} {step.command}"
        yield Passage(Kind.DEBUGGING, f"/debugging?at={step.id}#now", words_of(step.title), body.strip())
