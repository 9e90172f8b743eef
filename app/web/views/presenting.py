"""Turn a chapter's blocks and a learner's history into the views that templates render. No I/O.

A block's anchor on the page is the author's id, which chapters link to and which no heading may use.

Whatever the learner may not see yet (truth, feedback, model answers) is left out here, so that no template leaks it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from app.course.block_tree import Block, Box, Reveal
from app.course.blocks import (
    Cell,
    Claim,
    DrillPlace,
    ExerciseLink,
    Graph,
    Heading,
    Html,
    Illustration,
    Incident,
    LadderPlace,
    Measure,
    Option,
    Predict,
    Prose,
    Steps,
    VariantDraw,
)
from app.course.claim_status import find_status, name_surroundings
from app.course.language.code import highlight, highlight_unnumbered
from app.course.language.directive_specs import BOXES
from app.course.model import Chapter, Course
from app.course.questions.code_lines import CodeQuestion
from app.course.questions.kinds import Choice, GraphClick, Number, Open, Order, Question, Several, Text, WrongLine
from app.course.questions.marking import Unmarkable
from app.course.questions.question import QuestionBase
from app.drawing.tasks import DrawPicture, Figure
from app.learning.calibration import Confidence
from app.storage.draft_key import DraftKey, cell_key
from app.storage.records import NOTHING_YET, Answer, ChapterHistory, Deck
from app.storage.review_cards import NO_DECK
from app.web.views import blocks as views
from app.web.views.ladder import LadderView
from app.web.views.measures import show_measure
from app.web.views.walkthroughs import show_illustration, show_incident, show_steps

ANSWER_AFTER_ATTEMPTS = 2
"""A wrong answer may be tried again before the model answer shows; after this many attempts it shows anyway."""

MAX_NODES_LISTED = 60

NOT_DRAWN: Html = '<p class="small-note">The numbers of this question have not been drawn yet.</p>'


@dataclass(frozen=True)
class ExerciseProgress:
    """A learner's progress with an exercise."""

    attempts: int = 0
    passed: bool = False


@dataclass(frozen=True)
class ChapterState:
    """Everything that presenting a block needs besides the block.

    `figures` are by graph or cell id; `problems` by block id. `draws` are the seeds to show, by question id; other
    variants show the draw that was answered last, or the first one for `learner`.
    """

    course: Course
    chapter: Chapter
    history: ChapterHistory = NOTHING_YET
    drafts: Mapping[DraftKey, str] = field(default_factory=dict)
    progress: Mapping[str, ExerciseProgress] = field(default_factory=dict)
    figures: Mapping[str, Figure] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
    torch: str = ""
    """The torch version that runs here; empty means the one that the course was written on."""
    learner: str = ""
    draws: Mapping[str, int] = field(default_factory=dict)
    ladder: LadderView | None = None
    deck: Deck = NO_DECK
    worth: Mapping[str, str] = field(default_factory=dict)
    """By question id: what the learner's words of confidence were worth on its subject so far."""
    drill: views.DrillView | None = None
    """The chapter's drill with the graph that this learner was asked."""
    noted: frozenset[str] = frozenset()
    """The blocks on which the learner has a note."""


def picture_prefix(block: Cell | Graph) -> str:
    """The id of a block's picture, and the prefix of the ids inside it."""
    return f"{block.id}-picture"


def ask_picture(graph: Graph, opened: frozenset[str] = frozenset()) -> DrawPicture:
    """What is drawn for a graph of the course's own."""
    prefix = picture_prefix(graph)
    return DrawPicture(source=graph.source, id_prefix=prefix, opened=tuple(sorted(opened)), list_nodes=not opened)


def present_blocks(course_blocks: tuple[Block, ...], state: ChapterState) -> tuple[views.BlockView, ...]:
    return tuple(present_block(block, state) for block in course_blocks)


def present_block(block: Block, state: ChapterState) -> views.BlockView:  # noqa: C901 - one flat match over a closed union
    match block:
        case Prose():
            return views.ProseView(block.html)
        case Heading():
            return views.HeadingView(block.level, block.html, block.text, block.anchor)
        case Predict():
            return present_predict(block, state)
        case QuestionBase():
            return present_question(block, state)
        case Cell():
            return present_cell(block, state)
        case Measure():
            return show_measure(block, present_cell(block.cell, state))
        case Graph():
            return present_graph(block, state)
        case Claim():
            return present_claim(block, state)
        case Illustration():
            return show_illustration(block)
        case Steps():
            return show_steps(block)
        case Incident():
            return show_incident(block, present_cell(block.cell, state))
        case LadderPlace():
            return state.ladder or views.ProseView("")
        case DrillPlace():
            return state.drill or views.DrillView(block.id, block.id, state.chapter.slug, block.note)
        case ExerciseLink():
            return present_exercise_link(state.course, block.name, state.progress, block.note)
        case Box():
            inner = present_blocks(block.blocks, state)
            return views.BoxView(block.kind, BOXES[block.kind], block.title, inner)
        case Reveal():
            return views.RevealView(block.kind, block.prompt, block.level, present_blocks(block.blocks, state))
        case _:
            assert_never(block)


def present_predict(block: Predict, state: ChapterState) -> views.PredictView:
    mine = state.history.predictions.get(block.id)
    resolved = mine is not None and mine.resolved_at is not None
    chosen = mine.option if mine else None
    right = next((option.right for option in block.options if option.id == chosen), None)
    return views.PredictView(
        id=block.id,
        anchor=block.id,
        action=f"/chapters/{state.chapter.slug}/predictions/{block.id}",
        state="open" if mine is None else "resolved" if resolved else "committed",
        prompt=block.prompt,
        options=tuple(_option(option, option.id == chosen, revealed=resolved) for option in block.options),
        confidences=tuple(
            views.ConfidenceView(level.value, level.label, mine is not None and mine.confidence == level.value)
            for level in Confidence
        ),
        cell_anchor=block.resolved_by,
        dont_know=mine is not None and chosen is None,
        right=right if resolved else None,
        truth=block.truth if resolved else "",
        problem=state.problems.get(block.id, ""),
    )


def _option(option: Option, chosen: bool, *, revealed: bool) -> views.OptionView:
    return views.OptionView(
        option.id,
        option.html,
        chosen,
        option.right if revealed else None,
        option.feedback if revealed and chosen else "",
    )


def present_question(block: Question, state: ChapterState) -> views.QuestionView | views.ProseView:
    here = tuple(one for one in state.history.answers if one.question == block.id and not one.in_review)
    if block.variant is None:
        return present_asked(block, state, None, tuple(one for one in here if one.response.draw is None))
    draw = _choose_draw(block, state, here)
    if draw is None:
        return views.ProseView(NOT_DRAWN)
    return present_asked(block.fill(draw), state, draw.seed, tuple(a for a in here if a.response.draw == draw.seed))


def draws_seen(block: Question, state: ChapterState) -> tuple[int, ...]:
    """The seeds of the draws that this learner has answered, in review too, in their order."""
    return _seeds(answer for answer in state.history.answers if answer.question == block.id)


def _seeds(answers: Iterable[Answer]) -> tuple[int, ...]:
    return tuple(answer.response.draw for answer in answers if answer.response.draw is not None)


def _choose_draw(block: Question, state: ChapterState, here: tuple[Answer, ...]) -> VariantDraw | None:
    seen = _seeds(here)
    wanted = state.draws.get(block.id, seen[-1] if seen else None)
    return block.find_draw(wanted) or block.pick_draw(state.learner)


def present_asked(
    block: Question, state: ChapterState, seed: int | None, attempts: tuple[Answer, ...]
) -> views.QuestionView:
    """A question that is filled from the draw `seed`, with the attempts at it."""
    action = f"/chapters/{state.chapter.slug}/answers/{block.id}"
    last = attempts[-1] if attempts else None
    status, feedback = _judge(block, last)
    answered = status in ("right", "answered", "rated") or len(attempts) >= ANSWER_AFTER_ATTEMPTS
    view = views.QuestionView(
        id=block.id,
        anchor=block.id,
        action=action,
        kind=block.kind,
        role=block.role.value,
        prompt=block.prompt,
        state=status,
        given=last.response.text if last else "",
        attempts=len(attempts),
        feedback=feedback,
        answer=block.answer if answered else "",
        problem=state.problems.get(block.id, ""),
        draw="" if seed is None else str(seed),
        another_action=f"{action}/another" if seed is not None and attempts else "",
        worth="" if attempts else state.worth.get(block.id, ""),
    )
    return _with_input(view, block, last, state)


def _with_input(
    view: views.QuestionView, block: Question, last: Answer | None, state: ChapterState
) -> views.QuestionView:
    """Add the inputs for this kind of question."""
    match block:
        case Choice() | Several():
            # Each option shows its feedback beside it.
            return replace(
                view, options=question_options(block, last, all_revealed=view.state == "right"), feedback=""
            )
        case Number():
            return replace(view, unit=block.unit)
        case Text():
            return view
        case Order():
            return replace(view, lines=ordered_lines(block, last, done=view.state == "right"))
        case WrongLine():
            return replace(view, lines=_numbered_lines(block, last))
        case GraphClick():
            return replace(view, nodes=_nodes(state.figures.get(block.cell), last), graph_id=block.cell)
        case Open():
            return replace(view, rubric=_rubric(block, last))
        case _:
            assert_never(block)


def _judge(block: Question, last: Answer | None) -> tuple[views.QuestionState, Html]:
    """The state after the last attempt, marked again because the question's key may have been corrected since."""
    if last is None:
        return "unanswered", ""
    if isinstance(block, Open):
        return ("answered" if last.ticked is None else "rated"), ""
    try:
        mark = block.mark(last.response)
    except Unmarkable:
        return "unanswered", ""
    return ("right" if mark.right else "wrong"), mark.feedback


def question_options(
    block: Choice | Several, last: Answer | None, *, all_revealed: bool
) -> tuple[views.OptionView, ...]:
    chosen = last.response.values if last else ()
    return tuple(
        _option(option, option.id in chosen, revealed=all_revealed or option.id in chosen) for option in block.options
    )


def ordered_lines(block: Order, last: Answer | None, *, done: bool) -> tuple[views.LineView, ...]:
    """The lines in the order offered; once answered correctly, in the right order with their letters."""
    letters = block.letters()
    shown = sorted(letters, key=letters.__getitem__) if done else letters
    return _show_lines(block, {letter: block.lines[letters[letter]] for letter in shown}, last)


def _numbered_lines(block: WrongLine, last: Answer | None) -> tuple[views.LineView, ...]:
    return _show_lines(block, {str(number): line for number, line in enumerate(block.lines, 1)}, last)


def _show_lines(block: CodeQuestion, lines: Mapping[str, str], last: Answer | None) -> tuple[views.LineView, ...]:
    chosen = last.response.values if last else ()
    return tuple(
        views.LineView(value, number, line, highlight(line, block.code.language), value in chosen)
        for number, (value, line) in enumerate(lines.items(), 1)
    )


def _nodes(figure: Figure | None, last: Answer | None) -> tuple[views.NodeView, ...]:
    if figure is None:
        return ()
    chosen = last.response.text if last else ""
    return tuple(
        views.NodeView(str(number), node.label, str(number) == chosen)
        for number, node in enumerate(figure.nodes[:MAX_NODES_LISTED])
    )


def _rubric(block: Open, last: Answer | None) -> tuple[views.RubricView, ...]:
    """The rubric's points; none before the attempt, because they would give the answer away."""
    if last is None:
        return ()
    ticked = last.ticked or ()
    return tuple(views.RubricView(str(n), html, str(n) in ticked) for n, html in enumerate(block.rubric, 1))


def present_cell(block: Cell, state: ChapterState) -> views.CellView:
    slug = state.chapter.slug
    key = cell_key(slug, block.id) if block.editable else None
    return views.CellView(
        id=block.id,
        anchor=block.id,
        action=f"/chapters/{slug}/cells/{block.id}/run",
        chapter=slug,
        source=block.source,
        text=state.drafts.get(key, block.source) if key else block.source,
        caption=block.caption,
        graph=block.graph,
        editable=block.editable,
        flavour=block.flavour.value,
        draft_key=key or "",
        expected=block.expected or "",
        predicts=tuple(predict.id for predict in state.chapter.index.settled_by.get(block.id, ())),
        needs=block.needs,
        switches=block.switches,
        setup_html=block.setup_html,
        setup_shown_by=block.setup_shown_by,
    )


def present_graph(block: Graph, state: ChapterState) -> views.GraphView:
    figure = state.figures.get(block.id)
    tape = f"/api/chapters/{state.chapter.slug}/graphs/{block.id}/tape"
    return views.GraphView(
        id=block.id,
        anchor=block.id,
        svg=figure.svg if figure else "",
        text=figure.text if figure else "",
        alt=block.alt,
        caption=block.caption,
        source=block.source,
        source_html=highlight(block.source),
        width=round(figure.width) if figure else 0,
        height=round(figure.height) if figure else 0,
        problem="" if figure else "This picture has not been drawn yet; its code is below.",
        tape_href=tape if figure and figure.has_tape else "",
    )


def present_claim(block: Claim, state: ChapterState, anchor: str = "") -> views.ClaimView:
    """`anchor` is for a page with claims of several chapters, which may share an id."""
    found = state.course.evidence.get(f"{state.chapter.slug}/{block.id}")
    torch = state.torch or state.course.torch
    return views.ClaimView(
        id=block.id,
        anchor=anchor or block.id,
        sentence=block.sentence,
        myth=block.myth,
        code_html=highlight_unnumbered(block.code),
        needs=block.needs,
        status=find_status(block, found, torch),
        torch=torch,
        ran_on=name_surroundings(block, found) if found else "",
        evidence=found,
    )


def present_exercise_link(
    course: Course, name: str, progress: Mapping[str, ExerciseProgress], note: Html = ""
) -> views.ExerciseLinkView:
    manifest = course.exercises[name].manifest
    mine = progress.get(name, ExerciseProgress())
    return views.ExerciseLinkView(
        href=f"/exercises/{name}",
        note=note,
        title=manifest.title,
        summary=manifest.summary,
        kind=manifest.kind,
        difficulty=manifest.difficulty.label,
        minutes=manifest.minutes,
        attempts=mine.attempts,
        passed=mine.passed,
    )
