"""A question as it is asked in review, and as it is shown with its truth after the answer. No I/O.

Before the answer nothing of the truth is in a view. After it, everything is, because a missed question comes back.
"""

from dataclasses import dataclass, replace
from datetime import date

from app.course.blocks import Graph, Html
from app.course.language.code import highlight_unnumbered
from app.course.model import Chapter, Course
from app.course.questions.kinds import Choice, Order, Question, Several
from app.course.reviewable import find_cell, find_graph
from app.drawing.tasks import Figure
from app.learning.review import Card, Key
from app.storage.records import Answer
from app.web.edge.due import say_day
from app.web.edge.frame import Link
from app.web.views.blocks import GraphView, QuestionView
from app.web.views.presenting import (
    ChapterState,
    ordered_lines,
    present_asked,
    present_graph,
    question_options,
)


@dataclass(frozen=True)
class Instance:
    """One question as one learner is asked it: filled from the draw `draw` if it has a variant."""

    key: Key
    course: Course
    chapter: Chapter
    question: Question
    draw: int | None = None
    figure: Figure | None = None
    """The picture that the question is about."""
    drawn: Graph | None = None
    """The graph of a drill, which no chapter has."""
    tape_href: str = ""
    """The tape of a drill that was answered."""

    @property
    def graph(self) -> Graph | None:
        return self.drawn or find_graph(self.chapter, self.question)

    @property
    def state(self) -> ChapterState:
        graph = self.graph
        figures = {graph.id: self.figure} if graph and self.figure else {}
        return ChapterState(self.course, self.chapter, figures=figures)


def show_question(instance: Instance, action: str, problem: str = "") -> QuestionView:
    """The question with empty fields."""
    view = present_asked(instance.question, instance.state, instance.draw, ())
    return replace(view, action=action, problem=problem)


def show_answered(instance: Instance, answer: Answer) -> QuestionView:
    """The question with this answer, its mark, and the truth."""
    question = instance.question
    view = present_asked(question, instance.state, instance.draw, (answer,))
    if answer.correct is False and view.state == "unanswered":
        view = replace(view, state="wrong")
    match question:
        case Choice() | Several():
            view = replace(view, options=question_options(question, answer, all_revealed=True))
        case Order():
            view = replace(view, lines=ordered_lines(question, answer, done=True))
        case _:
            pass
    return replace(view, answer=question.answer, another_action="")


def show_graph(instance: Instance) -> GraphView | None:
    if instance.graph is None:
        return None
    view = present_graph(instance.graph, instance.state)
    return replace(view, tape_href=instance.tape_href) if instance.drawn else view


def show_code(instance: Instance) -> Html:
    """The code that a prediction is about, without what it prints."""
    cell = find_cell(instance.chapter, instance.key.question)
    return f'<pre class="code" tabindex="0">{highlight_unnumbered(cell.source)}</pre>' if cell else ""


def link_to_explanation(instance: Instance) -> Link:
    """Where the course explains what was asked: for a drill, a chapter that teaches its concept."""
    if instance.drawn is None:
        return link_to_section(instance.chapter, instance.key.question)
    chapter = instance.chapter
    return Link(f"/chapters/{chapter.slug}", chapter.title, chapter.number)


def link_to_section(chapter: Chapter, name: str) -> Link:
    """Where the chapter explains what was asked."""
    heading = chapter.index.sections.get(name)
    anchor = heading.anchor if heading else name
    title = f"{chapter.title}: {heading.text}" if heading else chapter.title
    return Link(f"/chapters/{chapter.slug}#{anchor}", title, chapter.number)


def say_return(card: Card | None, today: date) -> str:
    """When a question comes back, after it was answered today."""
    if card is None or card.due_on <= today:
        return "again today"
    return say_day(card.due_on, today)
