"""The exercise bank: every exercise, filtered by set, concept, kind, difficulty, minutes and own progress."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, ClassVar
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Response

from app.course.model import Chapter, Course, Exercise
from app.web.edge.frame import Frame, Link
from app.web.edge.identity import RequestContextDep
from app.web.edge.links import link_to
from app.web.views.alike import HARDER, share_of_concepts
from app.web.views.presenting import ExerciseProgress
from app.web.views.progress import count_progress
from graders.contract.manifest import Difficulty

router = APIRouter(include_in_schema=False)

MAX_FILTER_LENGTH = 80


class State(StrEnum):
    """A learner's progress with an exercise."""

    NOT_TRIED = "not tried yet"
    TRIED = "tried"
    PASSED = "passed"


RECOMMENDED = "recommended"
"""A value of the state filter, beside the states: what this learner could well do next."""


class Length(StrEnum):
    """About how long an exercise takes."""

    SHORT = "up to 15 minutes"
    MIDDLING = "16 to 25 minutes"
    LONG = "over 25 minutes"

    @classmethod
    def of(cls, minutes: int) -> "Length":
        if minutes > 25:
            return cls.LONG
        return cls.MIDDLING if minutes > 15 else cls.SHORT


@dataclass(frozen=True)
class FilterOption:
    """One value of a filter; `count` is how many exercises it would show with the other filters unchanged."""

    href: str
    label: str
    count: int
    chosen: bool


@dataclass(frozen=True)
class FilterView:
    name: str
    options: tuple[FilterOption, ...]


@dataclass(frozen=True)
class ExerciseCard:
    href: str
    title: str
    summary: str
    kind: str
    difficulty: str
    minutes: int
    concepts: tuple[str, ...]
    chapters: tuple[Link, ...]
    state: State
    attempts: int


@dataclass(frozen=True)
class BankView:
    """The filters with the exercises that match. `total` counts all exercises of the course."""

    template: ClassVar[str] = "bank"
    filters: tuple[FilterView, ...]
    cards: tuple[ExerciseCard, ...]
    total: int
    minutes: int
    clear_href: str
    """Empty if no filter is set."""


@dataclass(frozen=True)
class ProblemsPage:
    template: ClassVar[str] = "problems.html"
    frame: Frame
    bank: BankView


@dataclass(frozen=True)
class Entry:
    """An exercise with the values for filtering and sorting."""

    exercise: Exercise
    chapters: tuple[Chapter, ...]
    progress: ExerciseProgress
    recommended: bool = False
    sets: tuple[str, ...] = ()

    @property
    def state(self) -> State:
        if self.progress.passed:
            return State.PASSED
        return State.TRIED if self.progress.attempts else State.NOT_TRIED

    def values(self, name: str) -> tuple[str, ...]:
        """The exercise's values for a filter."""
        manifest = self.exercise.manifest
        match name:
            case "state":
                return (self.state.value, RECOMMENDED) if self.recommended else (self.state.value,)
            case "kind":
                return (manifest.kind,)
            case "difficulty":
                return (manifest.difficulty.value,)
            case "minutes":
                return (Length.of(manifest.minutes).value,)
            case "set":
                return self.sets
            case _:
                return manifest.concepts


FILTERS = {
    "set": "Set",
    "state": "Yours",
    "kind": "Kind",
    "difficulty": "Difficulty",
    "minutes": "Time",
    "concept": "What it practises",
}
Wanted = Mapping[str, str]


def list_entries(course: Course, progress: Mapping[str, ExerciseProgress]) -> tuple[Entry, ...]:
    """Sort by the first chapter that offers each (those without a chapter last), then by difficulty and title."""
    recommended = recommend(course, progress)
    entries = (
        Entry(
            exercise,
            course.index.offering.get(name, ()),
            progress.get(name, ExerciseProgress()),
            name in recommended,
            tuple(each.name for each in course.sets if name in each.exercises),
        )
        for name, exercise in course.exercises.items()
    )
    return tuple(sorted(entries, key=_order))


def recommend(course: Course, progress: Mapping[str, ExerciseProgress]) -> frozenset[str]:
    """What to do next: what was tried and has not passed, and what practises more of what has, one level up at most.

    Someone who has tried nothing yet gets what is easy.
    """
    if not any(each.attempts for each in progress.values()):
        easy = (name for name, each in course.exercises.items() if each.manifest.difficulty is HARDER[0])
        return frozenset(easy)
    passed = [course.exercises[name] for name, each in progress.items() if each.passed and name in course.exercises]

    def follows(exercise: Exercise) -> bool:
        level = HARDER.index(exercise.manifest.difficulty)
        return any(
            share_of_concepts(done, exercise) and level <= HARDER.index(done.manifest.difficulty) + 1
            for done in passed
        )

    return frozenset(
        name
        for name, exercise in course.exercises.items()
        if not (mine := progress.get(name, ExerciseProgress())).passed and (mine.attempts or follows(exercise))
    )


def _order(entry: Entry) -> tuple[float, int, str]:
    manifest = entry.exercise.manifest
    # A page without a number has ordinal 0, and its exercises follow those of the numbered chapters.
    first = (entry.chapters[0].ordinal if entry.chapters else 0) or math.inf
    return first, HARDER.index(manifest.difficulty), manifest.title


def show_bank(course: Course, entries: Sequence[Entry], wanted: Wanted) -> BankView:
    """Filter the bank by `wanted`. A value that no exercise has matches none, and can be cleared."""
    shown = [entry for entry in entries if _passes(entry, wanted)]
    return BankView(
        filters=tuple(
            _show_filter(course, entries, wanted, name) for name in FILTERS if name != "set" or course.sets
        ),
        cards=tuple(_show_card(course, entry) for entry in shown),
        total=len(entries),
        minutes=sum(entry.exercise.manifest.minutes for entry in shown),
        clear_href="/problems" if wanted else "",
    )


def _passes(entry: Entry, wanted: Wanted) -> bool:
    return all(value in entry.values(name) for name, value in wanted.items())


def _show_filter(course: Course, entries: Sequence[Entry], wanted: Wanted, name: str) -> FilterView:
    others = {key: value for key, value in wanted.items() if key != name}
    open_to = [entry for entry in entries if _passes(entry, others)]
    every = FilterOption(_href(others), "all", len(open_to), name not in wanted)
    options = [
        FilterOption(
            href=_href({**others, name: value}),
            label=_label(course, name, value),
            count=sum(value in entry.values(name) for entry in open_to),
            chosen=wanted.get(name) == value,
        )
        for value in _values(course, entries, name)
    ]
    return FilterView(FILTERS[name], (every, *options))


def _label(course: Course, name: str, value: str) -> str:
    """A value in few words. A concept's full sentence is too long here; it is on the exercise's page."""
    if name == "set":
        return next((each.title for each in course.sets if each.name == value), value)
    if name == "concept":
        return value.replace("-", " ")
    return Difficulty(value).label if name == "difficulty" else value


def _values(course: Course, entries: Sequence[Entry], name: str) -> list[str]:
    """All values that exercises have, in a meaningful order."""
    have = {value for entry in entries for value in entry.values(name)}
    orders: dict[str, Callable[[], Sequence[str]]] = {
        "set": lambda: [each.name for each in course.sets],
        "state": lambda: [RECOMMENDED, *(state.value for state in State)],
        "difficulty": lambda: [difficulty.value for difficulty in HARDER],
        "minutes": lambda: [length.value for length in Length],
        "kind": lambda: sorted(have),
        "concept": lambda: [concept for concept in course.concepts if concept in have],
    }
    return [value for value in orders[name]() if name == "state" or value in have]


def _href(wanted: Wanted) -> str:
    return "/problems" + (f"?{urlencode(wanted)}" if wanted else "")


def _show_card(course: Course, entry: Entry) -> ExerciseCard:
    manifest = entry.exercise.manifest
    return ExerciseCard(
        href=f"/exercises/{entry.exercise.name}",
        title=manifest.title,
        summary=manifest.summary,
        kind=manifest.kind,
        difficulty=manifest.difficulty.label,
        minutes=manifest.minutes,
        concepts=tuple(_label(course, "concept", concept) for concept in manifest.concepts),
        chapters=tuple(link_to(chapter) for chapter in entry.chapters),
        state=entry.state,
        attempts=entry.progress.attempts,
    )


Filter = Annotated[str, Query(max_length=MAX_FILTER_LENGTH)]


@router.api_route("/problems", methods=["GET", "HEAD"])
async def problems_page(
    context: RequestContextDep,
    set_: Annotated[str, Query(alias="set", max_length=MAX_FILTER_LENGTH)] = "",
    state: Filter = "",
    kind: Filter = "",
    difficulty: Filter = "",
    minutes: Filter = "",
    concept: Filter = "",
) -> Response:
    """The bank; the query string holds the filters."""
    site, learner = context.site, context.learner
    progress = count_progress(await site.ledger.finished_submissions(learner)) if learner else {}
    given = {"set": set_, "state": state, "kind": kind, "difficulty": difficulty}
    given |= {"minutes": minutes, "concept": concept}
    wanted = {name: value for name, value in given.items() if value}
    bank = show_bank(context.course, list_entries(context.course, progress), wanted)
    if context.wants_fragment:
        return site.renderer.fragment(bank)
    frame = await context.frame("Problems", "Every exercise of the course, to be taken in any order.")
    return site.renderer.page(ProblemsPage(frame, bank))
