"""An index of a chapter's blocks, built once when the course is read, so that no request walks the blocks. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

from app.course.block_tree import Block, Reveal, blocks_within
from app.course.blocks import Cell, Claim, DrillPlace, ExerciseLink, Graph, Heading, Incident, Measure, Predict
from app.course.questions.kinds import Question
from app.course.questions.question import QuestionBase
from app.course.references import Reference, read_references
from app.course.symptoms import SymptomTable, read_symptoms


class _Named(Protocol):
    @property
    def id(self) -> str: ...


NamedT = TypeVar("NamedT", bound=_Named)


@dataclass(frozen=True)
class ChapterIndex:
    """A chapter's blocks by id, in reading order, those inside boxes and reveals included."""

    headings: Mapping[str, Heading]
    """Keyed by anchor."""
    predicts: Mapping[str, Predict]
    settled_by: Mapping[str, tuple[Predict, ...]]
    """The predictions that a cell's run resolves, by the cell's id."""
    questions: Mapping[str, Question]
    sections: Mapping[str, Heading]
    """The heading above each prediction, question and measurement, by its id."""
    cells: Mapping[str, Cell]
    """All cells that a reader may run, including those of measurements and incidents."""
    measures: Mapping[str, Measure]
    graphs: Mapping[str, Graph]
    claims: Mapping[str, Claim]
    exercises: tuple[str, ...]
    """The names of the exercises that the chapter links to."""
    drill: DrillPlace | None
    """Where the chapter asks a drill; the check allows one."""
    symptoms: SymptomTable
    interview: tuple[tuple[str, Reveal], ...]
    """The interview questions, each with the anchor of its section; "" above the first."""
    incidents: Mapping[str, Incident]
    references: tuple[Reference, ...]
    anchors: frozenset[str]
    """The anchors of headings and the ids of blocks: the places that a reader can be at."""


def index_blocks(blocks: tuple[Block, ...]) -> ChapterIndex:
    found = tuple(blocks_within(blocks))
    predicts = _by_id(block for block in found if isinstance(block, Predict))
    resolvers = dict.fromkeys(predict.resolved_by for predict in predicts.values())
    runnable = (block.cell if isinstance(block, Measure | Incident) else block for block in found)
    return ChapterIndex(
        headings={block.anchor: block for block in found if isinstance(block, Heading)},
        predicts=predicts,
        settled_by={
            cell: tuple(predict for predict in predicts.values() if predict.resolved_by == cell) for cell in resolvers
        },
        questions=_by_id(block for block in found if isinstance(block, QuestionBase)),
        sections=_find_sections(found),
        cells=_by_id(block for block in runnable if isinstance(block, Cell)),
        measures=_by_id(block for block in found if isinstance(block, Measure)),
        graphs=_by_id(block for block in found if isinstance(block, Graph)),
        claims=_by_id(block for block in found if isinstance(block, Claim)),
        exercises=tuple(dict.fromkeys(block.name for block in found if isinstance(block, ExerciseLink))),
        drill=next((block for block in found if isinstance(block, DrillPlace)), None),
        symptoms=read_symptoms(found),
        interview=tuple(_find_interview(found)),
        incidents=_by_id(block for block in found if isinstance(block, Incident)),
        references=read_references(found),
        anchors=frozenset(anchors_of(found)),
    )


def _find_sections(found: tuple[Block, ...]) -> dict[str, Heading]:
    heading, sections = None, {}
    for block in found:
        if isinstance(block, Heading):
            heading = block
        elif isinstance(block, Predict | QuestionBase | Measure) and heading is not None:
            sections[block.id] = heading
    return sections


def _find_interview(found: tuple[Block, ...]) -> Iterator[tuple[str, Reveal]]:
    anchor = ""
    for block in found:
        if isinstance(block, Heading):
            anchor = block.anchor
        elif isinstance(block, Reveal) and block.kind == "interview":
            yield anchor, block


def anchors_of(blocks: Iterable[Block]) -> Iterator[str]:
    """The anchor of each heading and the id of each block that has one."""
    for block in blocks:
        if anchor := block.anchor if isinstance(block, Heading) else getattr(block, "id", ""):
            yield anchor


def _by_id(blocks: Iterable[NamedT]) -> dict[str, NamedT]:
    """Blocks by id. If two have the same id, which is an author's mistake, the first is used."""
    named: dict[str, NamedT] = {}
    for block in blocks:
        named.setdefault(block.id, block)
    return named
