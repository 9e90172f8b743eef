"""From what a learner did to what pages say of it: standings with exercises, and the ladder of a chapter."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from app.course.blocks import ExerciseLink, Kind, Predict, Question
from app.course.model import Chapter, Course
from app.course.walk import blocks_of
from app.learning.ladder import Asked, Done, Recall, climb_ladder
from app.storage.records import ChapterHistory
from app.web.blocks import LadderView, RungView
from app.web.merging import Standing
from graders.contract.results import Outcome
from graders.ledger import Standing as Finished

FAULT_FINDING = frozenset({"bug-hunt", "nan-hunt", "debug"})
"""Kinds of exercises that are about finding a fault, not about building."""


def count_standings(finished: Iterable[Finished]) -> Mapping[str, Standing]:
    """By exercise. What was our fault, or was withdrawn, is no attempt."""
    standings: dict[str, Standing] = {}
    for one in finished:
        outcome = Outcome(one.outcome)
        before = standings.get(one.exercise, Standing())
        standings[one.exercise] = Standing(
            before.attempts + int(outcome.costs_an_attempt), before.passed or outcome is Outcome.PASSED
        )
    return standings


def ask_of(course: Course, chapter: Chapter) -> Asked:
    """What the chapter asks of its reader."""
    exercises = {link.name: course.exercises[link.name] for link in blocks_of(ExerciseLink, chapter.blocks)}
    hunts = {name for name, exercise in exercises.items() if exercise.manifest.kind in FAULT_FINDING}
    questions = blocks_of(Question, chapter.blocks)
    wrong_lines = {question.id for question in questions if question.kind is Kind.WRONG_LINE}
    return Asked(
        predicts=frozenset(predict.id for predict in blocks_of(Predict, chapter.blocks)),
        questions=frozenset(question.id for question in questions),
        build=frozenset(exercises.keys() - hunts),
        debug=frozenset(hunts | wrong_lines),
    )


def make_ladder(
    course: Course, chapter: Chapter, history: ChapterHistory, standings: Mapping[str, Standing], now: datetime
) -> LadderView:
    done = Done(
        finished_reading=history.reading is not None and history.reading.finished_at is not None,
        predicted=frozenset(history.predictions),
        recalls=tuple(Recall(a.question, bool(a.held), a.answered_at) for a in history.answers),
        passed=frozenset(name for name, standing in standings.items() if standing.passed),
    )
    steps = climb_ladder(ask_of(course, chapter), done, now)
    return LadderView(
        tuple(RungView(step.rung.value, step.reached, step.done, step.total, step.detail) for step in steps)
    )
