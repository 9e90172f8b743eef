"""The search knows what every reader may see at once, and nothing that they have to earn."""

import dataclasses
import itertools
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from app.course.block_tree import Block, Reveal, blocks_within
from app.course.blocks import DrillPlace
from app.course.loader import load_course
from app.course.model import Chapter, Course
from app.course.passages import HOLDING_ANSWERS, Kind, Passage, gather_passages

FIXTURE = Path(__file__).parents[2] / "course"

SEARCHED = {
    "Box.title", "Cell.caption", "Cell.source", "Chapter.number", "Chapter.objectives", "Chapter.subtitle",
    "Chapter.title", "Claim.myth", "Claim.sentence", "DrillPlace.note", "ExerciseLink.note",
    "FlowStep.command", "FlowStep.text",
    "FlowStep.title", "Graph.alt", "Graph.caption", "Graph.source", "Heading.text", "Illustration.alt",
    "Illustration.caption", "Incident.story", "Incident.title", "Manifest.summary", "Manifest.title",
    "Predict.prompt", "Prose.html", "Reveal.prompt", "Steps.intro", "Term.html", "Term.name", "Exercise.prompt",
    "Choice.prompt", "GraphClick.prompt", "Number.prompt", "Open.prompt", "Order.prompt", "Several.prompt",
    "Text.prompt", "WrongLine.prompt",
    "folded Claim.myth", "folded Claim.sentence",
}  # fmt: skip
"""Every field whose text the search holds. An answer, an explanation, a hint, a solution or a result is not here."""

NAMES_OF_KINDS = {"kind"}
"""Fields of text by which code decides, so that a marked copy keeps them."""


@dataclasses.dataclass
class Marked:
    """A copy of a course in which each text is a word of its own; `names` tells which field a word stands for."""

    course: Course
    names: dict[str, str]


class Marker:
    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self._numbers = itertools.count()

    def mark(self, value: Any, name: str, folded: str = "") -> Any:
        if isinstance(value, str) and not isinstance(value, StrEnum):
            word = f"mark{next(self._numbers)}x"
            self.names[word] = folded + name
            return word
        if isinstance(value, tuple):
            return tuple(self.mark(one, name, folded) for one in value)
        if isinstance(value, Mapping):
            return {key: self.mark(one, name, folded) for key, one in value.items()}
        if isinstance(value, BaseModel):
            return value.model_copy(update=self._mark_fields(value, type(value).model_fields, folded))
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            if isinstance(value, Reveal) and value.kind in HOLDING_ANSWERS:
                prompt = self.mark(value.prompt, "Reveal.prompt", folded)
                return dataclasses.replace(value, prompt=prompt, blocks=self.mark(value.blocks, "", "folded "))
            fields = [field.name for field in dataclasses.fields(value) if field.init]
            return dataclasses.replace(value, **self._mark_fields(value, fields, folded))
        return value

    def _mark_fields(self, value: Any, fields: Any, folded: str) -> dict[str, Any]:
        kept = [name for name in fields if name not in NAMES_OF_KINDS]
        return {name: self.mark(getattr(value, name), f"{type(value).__name__}.{name}", folded) for name in kept}


@pytest.fixture(scope="module")
def course() -> Course:
    """The fixture, with a place for a drill: it has no drills itself, because every site test would draw them."""
    course = load_course(FIXTURE)[0]
    first, *others = course.modules
    chapter, *rest = first.chapters
    assert isinstance(chapter, Chapter)
    place = DrillPlace("sums", "<p>On a new graph.</p>", chapter.where)
    asking = dataclasses.replace(chapter, blocks=(*chapter.blocks, place))
    return dataclasses.replace(course, modules=(dataclasses.replace(first, chapters=(asking, *rest)), *others))


@pytest.fixture(scope="module")
def marked(course: Course) -> Marked:
    marker = Marker()
    return Marked(marker.mark(fold_everything(course), ""), marker.names)


def fold_everything(course: Course) -> Course:
    """The course with each chapter's blocks a second time, in a fold."""

    def fold(chapter: Chapter) -> Chapter:
        return dataclasses.replace(chapter, blocks=(*chapter.blocks, Reveal("fold", "more", "", chapter.blocks)))

    modules = tuple(
        dataclasses.replace(
            module, chapters=tuple(fold(one) if isinstance(one, Chapter) else one for one in module.chapters)
        )
        for module in course.modules
    )
    return dataclasses.replace(course, modules=modules)


def members(union: Any) -> Iterator[type]:
    for part in get_args(union):
        yield from members(part) if get_args(part) else [part]


def texts_of(passages: tuple[Passage, ...]) -> str:
    return " ".join(f"{one.heading} {one.body} {one.number} {one.within}" for one in passages)


def test_the_fixture_has_every_kind_of_block(course: Course) -> None:
    """Otherwise the next test would not look at all of them."""
    kinds = {type(block) for chapter in course.chapters for block in blocks_within(chapter.blocks)}

    assert set(members(Block)) - kinds == set()
    assert {"interview", "faq", "fold"} == {
        block.kind
        for chapter in course.chapters
        for block in blocks_within(chapter.blocks)
        if isinstance(block, Reveal)
    }


def test_no_answer_explanation_hint_solution_or_result_is_searched(marked: Marked) -> None:
    """A field that is new to a block fails here if its text reaches the search, until it is allowed above."""
    words = re.findall(r"mark\d+x", texts_of(gather_passages(marked.course)))

    assert {marked.names[word] for word in words} == SEARCHED


def test_every_passage_has_an_address_of_its_kind(course: Course) -> None:
    passages = gather_passages(course)
    starts = {
        Kind.SECTION: "/chapters/",
        Kind.CLAIM: "/chapters/",
        Kind.TERM: "/glossary#",
        Kind.EXERCISE: "/exercises/",
        Kind.DEBUGGING: "/debugging?at=",
    }

    assert {one.kind for one in passages} == set(Kind) - {Kind.NOTE}
    assert [one for one in passages if not one.href.startswith(starts[one.kind])] == []
    assert len({one.href for one in passages}) == len(passages)


def test_a_section_holds_the_words_between_its_heading_and_the_next(course: Course) -> None:
    chapter = course.chapters[0]
    sections = [one for one in gather_passages(course) if one.kind is Kind.SECTION and one.within == chapter.title]
    anchors = [one.href.partition("#")[2] for one in sections]

    assert anchors == ["", *chapter.index.headings]
    assert all(one.number == chapter.number for one in sections)
