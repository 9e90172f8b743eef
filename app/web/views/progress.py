"""Turn a learner's history into progress: with exercises, and on a chapter's ladder."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from app.course.model import Chapter, Course
from app.course.questions.kinds import WrongLine
from app.learning.ladder import Asked, Done, Recall, climb_ladder
from app.storage.records import ChapterHistory
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
    course: Course, chapter: Chapter, history: ChapterHistory, progress: Mapping[str, ExerciseProgress], now: datetime
) -> LadderView:
    done = Done(
        finished_reading=history.reading is not None and history.reading.finished_at is not None,
        predicted=frozenset(history.predictions),
        recalls=tuple(Recall(a.question, bool(a.correct), a.answered_at) for a in history.answers),
        passed=frozenset(name for name, progress in progress.items() if progress.passed),
    )
    steps = climb_ladder(ask_of(course, chapter), done, now)
    return LadderView(
        tuple(RungView(step.rung.value, step.reached, step.done, step.total, step.detail) for step in steps)
    )
