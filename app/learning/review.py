"""Review: when a question that was answered comes back, and which questions come today. Pure.

FSRS (the package `fsrs`) keeps a model of how well each question is remembered. Everything around it is ours: what
counts as a day, how due days are spread, and how many questions a day may ask (docs/decisions/0022-review.md).
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache

from fsrs import Card as FsrsCard
from fsrs import Rating, Scheduler, State
from fsrs.scheduler import FUZZ_RANGES

from app.learning.calibration import Confidence

__all__ = ["Rating"]

MAX_DAYS = 60
"""A longer interval would leave the course."""

SCHEDULER = Scheduler(
    desired_retention=0.9,
    learning_steps=(),
    relearning_steps=(),
    maximum_interval=MAX_DAYS,
    enable_fuzzing=False,
)
RULES_VERSION = 1
"""Stored with a learner's cards. Cards of other rules are made again from the answers; raise it with a change."""

CARDS_A_DAY = 20
NEW_A_DAY = 5
"""How many of a day's questions may be in review for the first time."""

SPREAD_FROM_DAYS = 2.5
"""A shorter interval is not spread."""

RETAINED_DAYS = 4
"""A question is retained once it was right on this many days. Right each time, these are days 0, 2, 13 and 59."""


@dataclass(frozen=True)
class Reviewed:
    """One answer to a question on a learner's day. `in_review`: not in its chapter."""

    on: date
    rating: Rating
    in_review: bool = False


@dataclass(frozen=True)
class Memory:
    """How well a question is remembered, after all its answers so far.

    `stability` is the number of days until recall falls to 90 %, `difficulty` is between 1 and 10: FSRS's two
    numbers. `interval_days` is what FSRS says before days are spread; `previous_days` what it said before that.
    """

    stability: float
    difficulty: float
    last: Reviewed
    interval_days: int
    previous_days: int = 0
    reps: int = 1
    lapses: int = 0
    right_days: int = 0


@dataclass(frozen=True)
class Key:
    """The name of a question or prediction in the course: its chapter's slug and its id."""

    chapter: str
    question: str

    @property
    def parts(self) -> tuple[str, str]:
        return self.chapter, self.question

    def __str__(self) -> str:
        return f"{self.chapter}/{self.question}"


@dataclass(frozen=True)
class Card:
    """A question that comes back on `due_on`."""

    key: Key
    memory: Memory
    due_on: date

    @property
    def is_new(self) -> bool:
        """Answered on one day only, so never asked in review before."""
        return self.memory.reps == 1

    def overdue(self, today: date) -> float:
        """The time since the last answer, in units of the planned interval: 1 on the day it is due."""
        last_on = self.memory.last.on
        return (today - last_on).days / max(1, (self.due_on - last_on).days)


@dataclass(frozen=True)
class Today:
    """The cards to ask today, in order, and how many more are due but can wait."""

    cards: tuple[Card, ...]
    waiting: int


def find_day(at: datetime, zone: tzinfo) -> date:
    """The learner's day: the date on the wall where they are."""
    return at.astimezone(zone).date()


def rate_mark(right: bool, confidence: Confidence | None) -> Rating:
    """Wrong is Again, however sure the learner was; right is Hard after a guess. Easy is never given.

    Confidence is not graded, but a right guess shows little memory.
    """
    if not right:
        return Rating.Again
    return Rating.Hard if confidence is Confidence.GUESS else Rating.Good


def rate_rubric(ticked: int, points: int) -> Rating:
    """An open answer: Good with every point of the rubric, Hard with at least half."""
    if ticked >= points:
        return Rating.Good
    return Rating.Hard if 2 * ticked >= points else Rating.Again


def is_recalled(ticked: int, points: int) -> bool:
    """Whether an open answer counts as right: with more than half of the rubric's points. Half of them is Hard."""
    return 2 * ticked > points


def remember(answers: Iterable[Reviewed]) -> Memory | None:
    """Replay the answers to one question, oldest first. Only the first of a day counts; None without any."""
    memory = None
    for answer in answers:
        if memory is None or answer.on > memory.last.on:
            memory = _count(memory, answer)
    return memory


def _count(memory: Memory | None, answer: Reviewed) -> Memory:
    at = _noon(answer.on)
    before = _blank(at) if memory is None else _restore(memory)
    after, _ = SCHEDULER.review_card(before, answer.rating, at)
    assert after.stability is not None
    assert after.difficulty is not None
    forgotten = answer.rating is Rating.Again
    return Memory(
        stability=after.stability,
        difficulty=after.difficulty,
        last=answer,
        interval_days=(after.due - at).days,
        previous_days=memory.interval_days if memory else 0,
        reps=memory.reps + 1 if memory else 1,
        lapses=(memory.lapses if memory else 0) + forgotten,
        right_days=(memory.right_days if memory else 0) + (not forgotten),
    )


def _noon(day: date) -> datetime:
    """FSRS counts periods of 24 hours in UTC. Fed with noon of each local date, it counts the learner's days."""
    return datetime.combine(day, time(12), UTC)


def _blank(at: datetime) -> FsrsCard:
    # Without an id the constructor reads the clock, and sleeps so that no other card gets the same id.
    return FsrsCard(card_id=0, due=at)


def _restore(memory: Memory) -> FsrsCard:
    last = _noon(memory.last.on)
    return FsrsCard(0, State.Review, None, memory.stability, memory.difficulty, due=last, last_review=last)


def choose_due_day(key: Key, memory: Memory, load: Mapping[date, int], learner: str) -> date:
    """The day on which a question comes back, spread over the days that FSRS would spread it over.

    `load` is how many of the learner's other cards are due on each day. The day with the fewest is taken; a hash
    decides between equals. A missed question comes back tomorrow, whatever came before.
    """
    last_on = memory.last.on
    if memory.last.rating is Rating.Again:
        return last_on + timedelta(days=1)
    shortest, longest = find_spread(memory.interval_days)
    shortest = min(max(shortest, memory.previous_days + 1), longest)
    days = [last_on + timedelta(days=count) for count in range(shortest, longest + 1)]
    return min(days, key=lambda day: (load.get(day, 0), _mix(learner, key, memory.reps, day)))


def find_spread(interval_days: int) -> tuple[int, int]:
    """The fewest and most days that py-fsrs makes of an interval when it draws one at random."""
    if interval_days < SPREAD_FROM_DAYS:
        return interval_days, interval_days
    delta = 1.0 + sum(
        band["factor"] * max(min(float(interval_days), band["end"]) - band["start"], 0.0) for band in FUZZ_RANGES
    )
    longest = min(round(interval_days + delta) + 1, MAX_DAYS)
    return min(max(2, round(interval_days - delta)), longest), longest


def _mix(*parts: object) -> bytes:
    return hashlib.sha256("\n".join(map(str, parts)).encode()).digest()


def plan_day(cards: Iterable[Card], today: date) -> Today:
    """What to ask today: the longest overdue for its interval first, within the day's limits."""
    mine = tuple(cards)
    done = [card for card in mine if card.memory.last.in_review and card.memory.last.on == today]
    room = max(0, CARDS_A_DAY - len(done))
    room_for_new = max(0, NEW_A_DAY - sum(card.memory.reps == 2 for card in done))
    due = [card for card in mine if card.due_on <= today]
    due.sort(key=lambda card: (-card.overdue(today), _mix(card.key, today)))
    chosen: list[Card] = []
    for card in due:
        if len(chosen) < room and (room_for_new or not card.is_new):
            chosen.append(card)
            room_for_new -= card.is_new
    return Today(tuple(chosen), len(due) - len(chosen))


def list_usual_days(count: int) -> tuple[int, ...]:
    """The first `count` intervals of a question that is right each time it is due, before days are spread."""
    on, found, memory = date(2000, 1, 1), [], None
    for _ in range(count):
        memory = _count(memory, Reviewed(on, Rating.Good))
        found.append(memory.interval_days)
        on += timedelta(days=memory.interval_days)
    return tuple(found)


def predict_retained(card: Card, today: date) -> date | None:
    """The day on which the question is retained if it is right each time it is due; None if it is already."""
    missing = RETAINED_DAYS - card.memory.right_days
    if missing <= 0:
        return None
    next_on = max(card.due_on, today)
    elapsed = (next_on - card.memory.last.on).days
    rest = _days_of_right_answers(card.memory.stability, card.memory.difficulty, elapsed, missing)
    return next_on + timedelta(days=rest)


@lru_cache(4096)
def _days_of_right_answers(stability: float, difficulty: float, elapsed_days: int, count: int) -> int:
    """The days from the first of `count` right answers, which comes after `elapsed_days`, to the last."""
    start = date(2000, 1, 1)
    memory = Memory(stability, difficulty, Reviewed(start, Rating.Good), elapsed_days)
    first = on = start + timedelta(days=elapsed_days)
    for _ in range(count - 1):
        memory = _count(memory, Reviewed(on, Rating.Good))
        on += timedelta(days=memory.interval_days)
    return (on - first).days
