"""The course's questions as they are asked outside their chapter: as review does. Pure."""

from dataclasses import replace

from app.course.blocks import Cell, Graph, Html, Option, Predict, Role
from app.course.drills.drill import ANSWERS
from app.course.model import Chapter, Course
from app.course.questions.draw_values import rank
from app.course.questions.kinds import Choice, GraphClick, Question, Several


def find_question(course: Course, chapter: str, name: str) -> Question | None:
    """The question, or the prediction as a question; None if it cannot be asked outside its chapter.

    A click on a graph needs a picture that the course brings: that of a cell is the reader's own run. Drills are
    asked under a name of their own in the chapter's place; each asking needs a drawn graph.
    """
    if chapter == ANSWERS:
        return next((drill.question for drill in course.drills if drill.id == name), None)
    found = course.index.by_slug.get(chapter)
    return find_question_in(found, name) if found else None


def find_question_in(chapter: Chapter, name: str) -> Question | None:
    """The same for a chapter that is known."""
    if (predict := chapter.index.predicts.get(name)) is not None:
        return _as_choice(predict, chapter)
    question = chapter.index.questions.get(name)
    if isinstance(question, GraphClick) and question.cell not in chapter.index.graphs:
        return None
    return None if question is None or (question.variant and not question.draws) else question


def find_graph(chapter: Chapter, question: Question) -> Graph | None:
    """The picture that a question is about."""
    return chapter.index.graphs.get(question.cell) if isinstance(question, GraphClick) else None


def find_cell(chapter: Chapter, name: str) -> Cell | None:
    """The code that a prediction is about; None for a question."""
    predict = chapter.index.predicts.get(name)
    return chapter.index.cells.get(predict.resolved_by) if predict else None


def shuffle_options(question: Question, *salt: object) -> Question:
    """Each asking has its own order of options, because people learn positions."""

    def key(option: Option) -> bytes:
        return rank(option.id, *salt)

    match question:
        case Choice():
            return replace(question, options=tuple(sorted(question.options, key=key)))
        case Several():
            return replace(question, options=tuple(sorted(question.options, key=key)))
        case _:
            return question


def _as_choice(predict: Predict, chapter: Chapter) -> Choice:
    return Choice(
        id=predict.id,
        role=Role.CONCEPTUAL,
        concepts=chapter.concepts,
        prompt=predict.prompt,
        where=predict.where,
        content_hash=predict.content_hash,
        answer=predict.truth,
        options=predict.options,
    )


def first_paragraph(html: Html) -> Html:
    """A prompt's first paragraph, for a list."""
    head, end, _ = html.partition("</p>")
    return head.rpartition("<p>")[2] if end else html
