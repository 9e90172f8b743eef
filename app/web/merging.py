"""Merges a chapter's blocks with what a learner did: from the course's block to the template's view. No I/O.

A block's anchor on the page is the author's own id, which chapters link to and which no heading may take.

Whatever a reader may not know yet (truth, feedback, model answers) is left out here, so that no template can leak it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import assert_never

from app.course.blocks import (
    Block,
    Box,
    Cell,
    Claim,
    Draw,
    ExerciseLink,
    Graph,
    Heading,
    Html,
    Illustration,
    Incident,
    Kind,
    LadderPlace,
    Measure,
    Option,
    Predict,
    Prose,
    Question,
    Reveal,
    Steps,
)
from app.course.code import highlight
from app.course.directives import BOXES
from app.course.marking import Unmarkable, code_lines, line_letter, mark_answer, shown_order
from app.course.model import Chapter, Course
from app.course.standing import stand
from app.course.variants import fill_question, find_draw, pick_draw
from app.course.walk import blocks_of
from app.learning.calibration import Confidence
from app.storage.records import NOTHING_YET, Answer, ChapterHistory
from app.web import blocks as views
from app.web.figures import Figure, node_label
from app.web.measures import show_measure
from app.web.telling import show_illustration, show_incident, show_steps

ANSWER_AFTER_ATTEMPTS = 2
"""A wrong answer may be tried again before the model answer shows; after this many attempts it shows anyway."""

MOST_NODES_LISTED = 60

NOT_DRAWN: Html = '<p class="small-note">The numbers of this question have not been drawn yet.</p>'


@dataclass(frozen=True)
class Standing:
    """How a learner stands with an exercise."""

    attempts: int = 0
    passed: bool = False


@dataclass(frozen=True)
class Reader:
    """What merging needs besides the block. `figures` are by graph or cell id; `problems` by block id.

    `draws` are the seeds to show, by question id; the other variants show what was answered last, or what `learner`
    gets first.
    """

    course: Course
    chapter: Chapter
    history: ChapterHistory = NOTHING_YET
    drafts: Mapping[str, str] = field(default_factory=dict)
    standings: Mapping[str, Standing] = field(default_factory=dict)
    figures: Mapping[str, Figure] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
    torch: str = ""
    """The version that runs here; empty means the one that the course was written on."""
    learner: str = ""
    draws: Mapping[str, int] = field(default_factory=dict)
    ladder: views.LadderView | None = None

    @cached_property
    def predicts(self) -> tuple[Predict, ...]:
        return blocks_of(Predict, self.chapter.blocks)


def picture_prefix(block: Cell | Graph) -> str:
    """What the ids inside a block's picture start with; the picture's own is this."""
    return f"{block.id}-picture"


def merge_blocks(course_blocks: tuple[Block, ...], reader: Reader) -> tuple[views.BlockView, ...]:
    return tuple(merge_block(block, reader) for block in course_blocks)


def merge_block(block: Block, reader: Reader) -> views.BlockView:  # noqa: C901 - one flat match over a closed union
    match block:
        case Prose():
            return views.ProseView(block.html)
        case Heading():
            return views.HeadingView(block.level, block.html, block.text, block.anchor)
        case Predict():
            return merge_predict(block, reader)
        case Question():
            return merge_question(block, reader)
        case Cell():
            return merge_cell(block, reader)
        case Measure():
            return show_measure(block, merge_cell(block.cell, reader))
        case Graph():
            return merge_graph(block, reader)
        case Claim():
            return merge_claim(block, reader)
        case Illustration():
            return show_illustration(block)
        case Steps():
            return show_steps(block)
        case Incident():
            return show_incident(block, merge_cell(block.cell, reader))
        case LadderPlace():
            return reader.ladder or views.ProseView("")
        case ExerciseLink():
            return merge_exercise_link(reader.course, block.name, reader.standings, block.note)
        case Box():
            inner = merge_blocks(block.blocks, reader)
            return views.BoxView(block.kind, BOXES[block.kind], block.title, inner)
        case Reveal():
            return views.RevealView(block.kind, block.prompt, block.level, merge_blocks(block.blocks, reader))
        case _:
            assert_never(block)


def merge_predict(block: Predict, reader: Reader) -> views.PredictView:
    mine = reader.history.predictions.get(block.id)
    resolved = mine is not None and mine.resolved_at is not None
    chosen = mine.option if mine else None
    right = next((option.right for option in block.options if option.id == chosen), None)
    return views.PredictView(
        id=block.id,
        anchor=block.id,
        action=f"/chapters/{reader.chapter.slug}/predictions/{block.id}",
        state="open" if mine is None else "resolved" if resolved else "committed",
        prompt=block.prompt,
        options=tuple(_option(option, option.id == chosen, told=resolved) for option in block.options),
        confidences=tuple(
            views.ConfidenceView(level.value, level.label, mine is not None and mine.confidence == level.value)
            for level in Confidence
        ),
        cell_anchor=block.resolved_by,
        dont_know=mine is not None and chosen is None,
        right=right if resolved else None,
        truth=block.truth if resolved else "",
        problem=reader.problems.get(block.id, ""),
    )


def _option(option: Option, chosen: bool, *, told: bool) -> views.OptionView:
    return views.OptionView(
        option.id, option.html, chosen, option.right if told else None, option.feedback if told and chosen else ""
    )


def merge_question(block: Question, reader: Reader) -> views.QuestionView | views.ProseView:
    draw = _choose_draw(block, reader)
    if block.variant is None:
        return _merge_asked(block, reader, None)
    return _merge_asked(fill_question(block, draw), reader, draw.seed) if draw else views.ProseView(NOT_DRAWN)


def draws_seen(block: Question, reader: Reader) -> tuple[int, ...]:
    """The seeds of the draws that this learner has answered, in their order."""
    given = (answer.given.draw for answer in reader.history.answers if answer.question == block.id)
    return tuple(seed for seed in given if seed is not None)


def _choose_draw(block: Question, reader: Reader) -> Draw | None:
    seen = draws_seen(block, reader)
    wanted = reader.draws.get(block.id, seen[-1] if seen else None)
    return find_draw(block, wanted) or pick_draw(block, reader.learner)


def _merge_asked(block: Question, reader: Reader, seed: int | None) -> views.QuestionView:
    action = f"/chapters/{reader.chapter.slug}/answers/{block.id}"
    attempts = tuple(
        answer for answer in reader.history.answers if (answer.question, answer.given.draw) == (block.id, seed)
    )
    last = attempts[-1] if attempts else None
    state, feedback = _judge(block, last)
    answered = state in ("right", "answered", "rated") or len(attempts) >= ANSWER_AFTER_ATTEMPTS
    figure = reader.figures.get(block.graph.cell) if block.graph else None
    return views.QuestionView(
        id=block.id,
        anchor=block.id,
        action=action,
        kind=block.kind.value,
        role=block.role.value,
        prompt=block.prompt,
        state=state,
        options=_question_options(block, last, all_told=state == "right"),
        unit=block.number.unit if block.number else "",
        lines=_lines(block, last, done=state == "right"),
        nodes=_nodes(figure, last),
        graph_id=block.graph.cell if block.graph else "",
        given=last.given.text if last else "",
        attempts=len(attempts),
        feedback=feedback if not _has_options(block) else "",
        answer=block.answer if answered else "",
        rubric=_rubric(block, last),
        problem=reader.problems.get(block.id, ""),
        draw="" if seed is None else str(seed),
        another_action=f"{action}/another" if seed is not None and attempts else "",
    )


def _judge(block: Question, last: Answer | None) -> tuple[views.QuestionState, Html]:
    """The state after the last attempt, marked again: a question mended since then judges by its new key."""
    if last is None:
        return "unanswered", ""
    if block.kind is Kind.OPEN:
        return ("answered" if last.ticked is None else "rated"), ""
    try:
        mark = mark_answer(block, last.given)
    except Unmarkable:
        return "unanswered", ""
    return ("right" if mark.right else "wrong"), mark.feedback


def _has_options(block: Question) -> bool:
    """These show each option's feedback beside it."""
    return block.kind in (Kind.CHOICE, Kind.SEVERAL) and bool(block.options)


def _question_options(block: Question, last: Answer | None, *, all_told: bool) -> tuple[views.OptionView, ...]:
    if not _has_options(block):
        return ()
    chosen = last.given.values if last else ()
    return tuple(
        _option(option, option.id in chosen, told=all_told or option.id in chosen) for option in block.options
    )


def _lines(block: Question, last: Answer | None, *, done: bool) -> tuple[views.LineView, ...]:
    """As they are shown to choose from; once put in order, in that order, each with the letter that it had."""
    if block.kind not in (Kind.ORDER, Kind.WRONG_LINE):
        return ()
    lines = code_lines(block)
    chosen = last.given.values if last else ()
    if block.kind is Kind.WRONG_LINE:
        numbered = [(str(number), line) for number, line in enumerate(lines, 1)]
    else:
        placed = list(enumerate(shown_order(len(lines))))
        if done:
            placed.sort(key=lambda place_and_line: place_and_line[1])
        numbered = [(line_letter(place), lines[index]) for place, index in placed]
    return tuple(
        views.LineView(value, number, line, highlight(line, block.code_language), value in chosen)
        for number, (value, line) in enumerate(numbered, 1)
    )


def _nodes(figure: Figure | None, last: Answer | None) -> tuple[views.NodeView, ...]:
    if figure is None:
        return ()
    chosen = last.given.text if last else ""
    count = min(len(figure.trace.nodes.name), MOST_NODES_LISTED)
    return tuple(
        views.NodeView(str(node), node_label(figure.trace, node), str(node) == chosen) for node in range(count)
    )


def _rubric(block: Question, last: Answer | None) -> tuple[views.RubricView, ...]:
    """Its points would give the answer away before the attempt."""
    if last is None:
        return ()
    ticked = last.ticked or ()
    return tuple(views.RubricView(str(n), html, str(n) in ticked) for n, html in enumerate(block.rubric, 1))


def merge_cell(block: Cell, reader: Reader) -> views.CellView:
    slug = reader.chapter.slug
    place = f"chapters/{slug}/{block.id}" if block.editable else ""
    return views.CellView(
        id=block.id,
        anchor=block.id,
        action=f"/chapters/{slug}/cells/{block.id}/run",
        chapter=slug,
        source=block.source,
        text=reader.drafts.get(place, block.source) if place else block.source,
        caption=block.caption,
        graph=block.graph,
        editable=block.editable,
        flavour=block.flavour.value,
        draft_place=place,
        expected=block.expected or "",
        predicts=tuple(predict.id for predict in reader.predicts if predict.resolved_by == block.id),
        needs_gpu=block.needs == "gpu",
        switches=block.switches,
    )


def merge_graph(block: Graph, reader: Reader) -> views.GraphView:
    figure = reader.figures.get(block.id)
    picture = figure.picture if figure else None
    tape = f"/api/chapters/{reader.chapter.slug}/graphs/{block.id}/tape"
    return views.GraphView(
        id=block.id,
        anchor=block.id,
        svg=picture.svg if picture else "",
        text=picture.text if picture else "",
        alt=block.alt,
        caption=block.caption,
        source=block.source,
        source_html=highlight(block.source),
        width=round(picture.width) if picture else 0,
        height=round(picture.height) if picture else 0,
        problem="" if picture else "This picture has not been drawn yet; its code is below.",
        tape_href=tape if figure and figure.trace.events.kind else "",
    )


def merge_claim(block: Claim, reader: Reader, anchor: str = "") -> views.ClaimView:
    """`anchor` is for a page that holds claims of several chapters, which may share an id."""
    found = reader.course.evidence.get(f"{reader.chapter.slug}/{block.id}")
    torch = reader.torch or reader.course.torch
    return views.ClaimView(
        id=block.id,
        anchor=anchor or block.id,
        sentence=block.sentence,
        myth=block.myth,
        code_html=highlight(block.code),
        needs=block.needs,
        standing=stand(block, found, torch),
        torch=torch,
        evidence=found,
    )


def merge_exercise_link(
    course: Course, name: str, standings: Mapping[str, Standing], note: Html = ""
) -> views.ExerciseLinkView:
    manifest = course.exercises[name].manifest
    standing = standings.get(name, Standing())
    return views.ExerciseLinkView(
        href=f"/exercises/{name}",
        note=note,
        title=manifest.title,
        summary=manifest.summary,
        kind=manifest.kind,
        difficulty=manifest.difficulty.value,
        minutes=manifest.minutes,
        attempts=standing.attempts,
        passed=standing.passed,
    )
