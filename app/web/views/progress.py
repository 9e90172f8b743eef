"""Turn a learner's history into progress: with exercises, and on a chapter's ladder."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from zoneinfo import ZoneInfo

from app.course.model import Chapter, Course
from app.course.questions.kinds import WrongLine
from app.course.reviewable import find_question_in
from app.learning.ladder import Asked, Done, Recall, climb_ladder
from app.learning.review import predict_retained
from app.storage.records import ChapterHistory, Deck
from app.storage.review_cards import NO_DECK
from app.web.edge.due import find_today, say_day
from app.web.views.ladder import LadderView, RungView
from app.web.views.presenting import ExerciseProgress
from graders.contract.results import Outcome
from graders.ledger import FinishedSubmission

FAULT_FINDING = frozenset({"bug-hunt", "nan-hunt", "debug"})
"""Kinds of exercises in which the learner finds a fault instead of building something."""


def count_progress(finished: Iterable[FinishedSubmission]) -> Mapping[str, ExerciseProgress]:
    """Progress by exercise. A submission that failed by our fault, or was withdrawn, is not an attempt."""
    progress: dict[str, ExerciseProgress] = {}
    for one in finished:
        outcome = Outcome(one.outcome)
        before = progress.get(one.exercise, ExerciseProgress())
        progress[one.exercise] = ExerciseProgress(
            before.attempts + int(outcome.costs_an_attempt), before.passed or outcome is Outcome.PASSED
        )
    return progress


def ask_of(course: Course, chapter: Chapter) -> Asked:
    """What the chapter asks its reader to do."""
    found, exercises = chapter.index, frozenset(chapter.index.exercises)
    hunts = {name for name in exercises if course.exercises[name].manifest.kind in FAULT_FINDING}
    wrong_lines = {name for name, question in found.questions.items() if isinstance(question, WrongLine)}
    return Asked(
        predicts=frozenset(found.predicts),
        questions=frozenset(found.questions),
        build=exercises - hunts,
        debug=frozenset(hunts | wrong_lines),
    )


def make_ladder(
    course: Course,
    chapter: Chapter,
    history: ChapterHistory,
    progress: Mapping[str, ExerciseProgress],
    now: datetime,
    deck: Deck = NO_DECK,
) -> LadderView:
    """`deck` has the learner's review cards, of this chapter and of others."""
    done = Done(
        finished_reading=history.reading is not None and history.reading.finished_at is not None,
        predicted=frozenset(history.predictions),
        recalls=tuple(Recall(a.question, bool(a.correct), a.answered_at) for a in history.answers),
        passed=frozenset(name for name, progress in progress.items() if progress.passed),
    )
    asked = ask_of(course, chapter)
    steps = climb_ladder(asked, done, now, ZoneInfo(deck.zone))
    rungs = tuple(RungView(step.rung.value, step.reached, step.done, step.total, step.detail) for step in steps)
    return LadderView(rungs, _say_dates(chapter, asked, deck, find_today(deck, now)))


def _say_dates(chapter: Chapter, asked: Asked, deck: Deck, today: date) -> str:
    """When this chapter is reviewed next, and when all of it is remembered if every answer until then is right."""
    cards = [
        card
        for card in deck.cards
        if card.key.chapter == chapter.slug and find_question_in(chapter, card.key.question) is not None
    ]
    if not cards:
        return ""
    words = f"Next review {say_day(max(today, min(card.due_on for card in cards)), today)}."
    mine = [card for card in cards if card.key.question in asked.questions]
    days = [day for card in mine if (day := predict_retained(card, today))]
    if not days or len(mine) < len(asked.questions):
        return words
    return f"{words} Remembered {say_day(max(days), today)}, if every answer until then is right."
