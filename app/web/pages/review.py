"""Review: one question at a time, those first whose day has come; then what was missed, once more; then a summary."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from typing import ClassVar
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

from app.course.blocks import Html
from app.course.drills.drill import ANSWERS
from app.course.questions.kinds import Open
from app.course.reviewable import find_graph, find_question, first_paragraph, shuffle_options
from app.learning.calibration import Confidence
from app.learning.review import Card, Key, Rating, Today
from app.storage.records import Answer, Deck, ReviewAnswer
from app.storage.review_cards import NO_DECK
from app.web.edge.due import find_due_drills, find_today, say_day
from app.web.edge.frame import Frame, Link
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.zones import list_zones
from app.web.pages.drill import find_drill_instance
from app.web.views.blocks import ConfidenceView, GraphView, QuestionView
from app.web.views.calibrating import find_guesses, say_worth
from app.web.views.presenting import ask_picture
from app.web.views.reviewing import (
    Instance,
    link_to_explanation,
    say_return,
    show_answered,
    show_code,
    show_graph,
    show_question,
)

router = APIRouter(include_in_schema=False)

PRACTICE_TRIES = 3
"""A missed question is asked so often in one day at most, the first time included."""


@dataclass(frozen=True)
class ReviewDay:
    """One learner's day of review. `asked` are today's answers, oldest first; `missed` are to be asked once more."""

    deck: Deck
    today: date
    plan: Today
    asked: tuple[ReviewAnswer, ...]
    missed: tuple[Key, ...]

    @property
    def begun(self) -> datetime:
        """The learner's last midnight."""
        return _find_midnight(self.deck, self.today)

    @property
    def done(self) -> tuple[Key, ...]:
        """What was asked today. An open answer whose points are not ticked yet is still to come."""
        return tuple(dict.fromkeys(key_of(one) for one in self.asked if one.answer.rating is not None))

    def find_card(self, key: Key) -> Card | None:
        return next((card for card in self.deck.cards if card.key == key), None)

    def salt(self, key: Key, before: int | None = None) -> tuple[object, ...]:
        """What decides the order of options: it changes each time, and is the same when the answer is shown."""
        return key, self.today, self.count_answers(key, before)

    def count_answers(self, key: Key, before: int | None = None) -> int:
        """How often the question was answered today, or before the answer with that number."""
        return sum(key_of(one) == key and (before is None or one.number < before) for one in self.asked)


@dataclass(frozen=True)
class ReviewPage:
    """A question to answer. `place` counts from 1; `again`: it was missed today, and this is practice."""

    template: ClassVar[str] = "review.html"
    frame: Frame
    view: QuestionView
    graph: GraphView | None
    code: Html
    confidences: tuple[ConfidenceView, ...]
    place: int
    total: int
    again: bool
    earlier: int
    """How often it was answered today: the form sends it, so that it counts once if it is sent twice."""
    worth: str
    """What the learner's words of confidence were worth on this question's subject; may be empty."""


@dataclass(frozen=True)
class ReviewedPage:
    """An answer with the truth. `returns` says when the question comes back."""

    template: ClassVar[str] = "reviewed.html"
    frame: Frame
    view: QuestionView
    graph: GraphView | None
    code: Html
    section: Link
    returns: str
    rubric_action: str
    left: int


@dataclass(frozen=True)
class ReviewRow:
    prompt: Html
    section: Link
    right: bool
    returns: str


@dataclass(frozen=True)
class ReviewEndPage:
    """Nothing is left for today. `next_day` says when the next question comes; empty if no question has a card.

    `undrawn` questions are due and wait for a new graph.
    """

    template: ClassVar[str] = "review_end.html"
    frame: Frame
    rows: tuple[ReviewRow, ...]
    undrawn: int
    waiting: int
    next_day: str
    next_count: int
    zone: str
    zones: tuple[str, ...]


def key_of(one: ReviewAnswer) -> Key:
    return Key(one.chapter, one.answer.question)


@router.api_route("/review", methods=["GET", "HEAD"])
async def review(context: RequestContextDep) -> Response:
    return await show_next(context)


@router.api_route("/review/answers/{number}", methods=["GET", "HEAD"])
async def reviewed(number: int, context: RequestContextDep) -> Response:
    """One of today's answers with the truth."""
    day = await open_day(context)
    given = next((one for one in day.asked if one.number == number), None)
    if given is None:
        raise HTTPException(404, "That answer is not one of yours from today's review.")
    return await _show_answer(context, day, given)


async def open_day(context: RequestContext) -> ReviewDay:
    deck, asked = NO_DECK, tuple[ReviewAnswer, ...]()
    if context.learner is not None:
        cards = context.site.store.review_cards
        deck = await cards.deck(context.learner)
        asked = await cards.answers_since(context.learner, _find_midnight(deck, find_today(deck, context.now)))
    plan = await context.plan_review(deck)
    due = {card.key for card in plan.cards}
    missed = tuple(key for key in find_missed(asked) if key not in due and find_question(context.course, *key.parts))
    return ReviewDay(deck, find_today(deck, context.now), plan, asked, missed)


def _find_midnight(deck: Deck, today: date) -> datetime:
    return datetime.combine(today, time(0), ZoneInfo(deck.zone))


def find_missed(asked: Sequence[ReviewAnswer]) -> tuple[Key, ...]:
    """The questions that were missed today and not right since, the one that waits longest first."""
    tries: dict[Key, list[Answer]] = {}
    for one in asked:
        earlier = tries.pop(key_of(one), [])
        tries[key_of(one)] = [*earlier, one.answer]
    return tuple(
        key for key, answers in tries.items() if answers[-1].rating == Rating.Again and len(answers) < PRACTICE_TRIES
    )


async def find_instance(context: RequestContext, key: Key, draw: int | None = None) -> Instance | None:
    """The one function from which review takes a question: filled, and with the draw that names its numbers.

    With `draw` it is the question as it was shown; without, a draw that this learner has not seen. None if the
    course no longer has it. Another source of questions joins here and in `find_question`.
    """
    if key.chapter == ANSWERS:
        return await find_drill_instance(context, key, draw)
    course = context.course
    question, chapter = find_question(course, *key.parts), course.index.by_slug.get(key.chapter)
    if question is None or chapter is None or context.learner is None:
        return None
    if question.variant is not None:
        seen: list[int] = []
        if draw is None:
            history = await context.site.store.history(context.learner, key.chapter)
            mine = (one.response.draw for one in history.answers if one.question == key.question)
            seen = [seed for seed in mine if seed is not None]
        drawn = question.pick_draw(context.learner, seen) if draw is None else question.find_draw(draw)
        if drawn is None:
            return None
        return Instance(key, course, chapter, question.fill(drawn), drawn.seed)
    graph = find_graph(chapter, question)
    figure = await context.site.figures.kept(graph.trace_path, ask_picture(graph)) if graph else None
    return Instance(key, course, chapter, question, None, figure)


def shuffle(instance: Instance, salt: tuple[object, ...]) -> Instance:
    return replace(instance, question=shuffle_options(instance.question, *salt))


async def show_next(context: RequestContext, wanted: Instance | None = None, problem: str = "") -> Response:
    """The next question, or the summary. `wanted` is one whose answer could not be marked: `problem` says why."""
    day = await open_day(context)
    keys = [wanted.key] if wanted else [*(card.key for card in day.plan.cards), *day.missed]
    for key in keys:
        instance = wanted or await find_instance(context, key)
        if instance is not None:
            return await _show_question(context, day, shuffle(instance, day.salt(key)), problem)
    return await _show_end(context, day)


async def _show_question(context: RequestContext, day: ReviewDay, instance: Instance, problem: str) -> Response:
    key, again = instance.key, instance.key in day.missed
    place = day.missed.index(key) if again else len(day.done)
    page = ReviewPage(
        frame=await context.frame("Review", "Questions that come back on the day on which they would be forgotten."),
        view=show_question(instance, f"/review/{key.chapter}/{key.question}", problem),
        graph=show_graph(instance),
        code=show_code(instance),
        confidences=tuple(ConfidenceView(level.value, level.label) for level in Confidence),
        place=place + 1,
        total=len(day.missed) if again else len(day.done) + len(day.plan.cards),
        again=again,
        earlier=day.count_answers(key),
        worth="" if again else await _say_worth(context, instance),
    )
    return context.site.renderer.page(page, 422 if problem else 200)


async def _say_worth(context: RequestContext, instance: Instance) -> str:
    assert context.learner is not None
    stated = await context.site.store.review_cards.stated(context.learner)
    return say_worth(context.course, find_guesses(context.course, stated), instance.question.concepts)


async def _show_answer(context: RequestContext, day: ReviewDay, given: ReviewAnswer) -> Response:
    key = key_of(given)
    instance = await find_instance(context, key, given.answer.response.draw)
    if instance is None:
        raise HTTPException(404, "The course has changed this question since you answered it. Go on with the review.")
    instance = shuffle(instance, day.salt(key, given.number))
    view = show_answered(instance, given.answer)
    waits_for_ticks = isinstance(instance.question, Open) and view.state == "answered"
    page = ReviewedPage(
        frame=await context.frame("Review", "Your answer, and the truth."),
        view=view,
        graph=show_graph(instance),
        code=show_code(instance),
        section=link_to_explanation(instance),
        returns="" if waits_for_ticks else _say_return(day, key),
        rubric_action=f"/review/answers/{given.number}/rubric" if waits_for_ticks else "",
        left=len(day.plan.cards) + len(day.missed),
    )
    return context.site.renderer.page(page)


def _say_return(day: ReviewDay, key: Key) -> str:
    later = say_return(day.find_card(key), day.today)
    return f"at the end of this review, and {later}" if key in day.missed else later


async def _show_end(context: RequestContext, day: ReviewDay) -> Response:
    cards = (card for card in day.deck.cards if _is_there(context, card.key))
    coming = [card.due_on for card in cards if card.due_on > day.today]
    next_on = min(coming, default=None)
    page = ReviewEndPage(
        frame=await context.frame("Review", "What came today, and when each question returns."),
        rows=tuple([row for key in day.done if (row := await _show_row(context, day, key))]),
        undrawn=await _count_undrawn(context, day.deck),
        waiting=day.plan.waiting,
        next_day=say_day(next_on, day.today) if next_on else "",
        next_count=coming.count(next_on) if next_on else 0,
        zone=day.deck.zone if context.learner else "",
        zones=list_zones(),
    )
    return context.site.renderer.page(page)


async def _count_undrawn(context: RequestContext, deck: Deck) -> int:
    """How many questions are due that the plan leaves out, because each asking needs a new graph."""
    due = find_due_drills(context.course, deck, context.now)
    return len(due) - len(await context.site.drills.askable(context.learner, due)) if context.learner and due else 0


def _is_there(context: RequestContext, key: Key) -> bool:
    return find_question(context.course, *key.parts) is not None


async def _show_row(context: RequestContext, day: ReviewDay, key: Key) -> ReviewRow | None:
    """What became of a question today: its first answer counts. None if the course no longer has the question."""
    answers = [one.answer for one in day.asked if key_of(one) == key]
    instance = await find_instance(context, key, answers[0].response.draw)
    if instance is None:
        return None
    return ReviewRow(
        prompt=first_paragraph(instance.question.prompt),
        section=link_to_explanation(instance),
        right=answers[0].rating != Rating.Again,
        returns=say_return(day.find_card(key), day.today),
    )
