"""A simulated learner: 30 chapters in 12 weeks, reviewed by our rules. How much work is it, and what is kept?

python bench/review_weeks.py [--weeks 12] [--chapters 30] [--cards 12] [--learners 40] [--shows-up 0.85]

A chapter brings --cards questions and predictions, of which 7 in 10 are right at first. Later an answer is right with
the chance that FSRS gives it, for a memory whose stability is the learner's own: between half and twice what FSRS
believes, drawn per question. The same learner without review says what reviewing gains.
"""

import argparse
import random
import statistics
import sys
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from app.learning.review import (
    RETAINED_DAYS,
    SCHEDULER,
    Card,
    Key,
    Rating,
    Reviewed,
    choose_due_day,
    plan_day,
    remember,
)

FIRST = date(2026, 3, 2)
RIGHT_AT_FIRST = 0.7
DAYS_TO_RETAIN = 59


@dataclass
class Learner:
    """`faithful` is the learner's stability divided by FSRS's, by question."""

    chance: random.Random
    answers: dict[Key, list[Reviewed]] = field(default_factory=dict)
    cards: dict[Key, Card] = field(default_factory=dict)
    faithful: dict[Key, float] = field(default_factory=dict)
    begun: dict[Key, date] = field(default_factory=dict)
    asked: list[int] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)

    def read(self, chapter: int, cards: int, today: date) -> None:
        for number in range(cards):
            key = Key(f"chapter-{chapter}", f"q{number}")
            self.faithful[key] = 2 ** self.chance.uniform(-1, 1)
            self.begun[key] = today
            right = self.chance.random() < RIGHT_AT_FIRST
            self.answer(key, Reviewed(today, Rating.Good if right else Rating.Again))

    def review(self, today: date) -> None:
        planned = plan_day(self.cards.values(), today)
        self.asked.append(len(planned.cards))
        self.waiting.append(planned.waiting)
        for card in planned.cards:
            right = self.chance.random() < self.recall(card.key, today)
            self.answer(card.key, Reviewed(today, Rating.Good if right else Rating.Again, in_review=True))

    def answer(self, key: Key, answer: Reviewed) -> None:
        self.answers.setdefault(key, []).append(answer)
        memory = remember(self.answers[key])
        assert memory is not None
        load: dict[date, int] = {}
        for other in self.cards.values():
            load[other.due_on] = load.get(other.due_on, 0) + (other.key != key)
        self.cards[key] = Card(key, memory, choose_due_day(key, memory, load, "simulated"))

    def recall(self, key: Key, today: date) -> float:
        """The chance that the question is right today."""
        memory = self.cards[key].memory
        return forget(memory.stability * self.faithful[key], (today - memory.last.on).days)


def forget(stability: float, days: int) -> float:
    """FSRS's forgetting curve."""
    return float((1 + SCHEDULER._FACTOR * days / stability) ** SCHEDULER._DECAY)


def live(seed: int, asked: argparse.Namespace, *, reviews: bool) -> Learner:
    learner = Learner(random.Random(seed))
    days = asked.weeks * 7
    for number in range(days):
        today = FIRST + timedelta(days=number)
        shows_up = learner.chance.random() < asked.shows_up
        for chapter in range(asked.chapters):
            if chapter * days // asked.chapters == number:
                learner.read(chapter, asked.cards, today)
        if reviews and shows_up:
            learner.review(today)
    return learner


def report(asked: argparse.Namespace) -> None:
    learners = [live(seed, asked, reviews=True) for seed in range(asked.learners)]
    alone = [live(seed, asked, reviews=False) for seed in range(asked.learners)]
    end = FIRST + timedelta(days=asked.weeks * 7)
    a_day = sorted(count for learner in learners for count in learner.asked)
    early = [
        card
        for learner in learners
        for card in learner.cards.values()
        if (end - learner.begun[card.key]).days > DAYS_TO_RETAIN
    ]
    retained = statistics.mean(card.memory.right_days >= RETAINED_DAYS for card in early)
    print(f"{asked.learners} learners, {asked.chapters} chapters of {asked.cards} cards, {asked.weeks} weeks")
    print(f"questions on a day of review: median {statistics.median(a_day):g}, p95 {a_day[len(a_day) * 95 // 100]}")
    print(f"left waiting: median {statistics.median(n for learner in learners for n in learner.waiting):g}, ", end="")
    print(f"most {max(n for learner in learners for n in learner.waiting)}")
    print(f"known at the end: {know(learners, end):.0%} with review, {know(alone, end):.0%} without")
    print(f"retained (right on {RETAINED_DAYS} days): {retained:.0%} of the {len(early)} cards older than 59 days")


def know(learners: list[Learner], end: date) -> float:
    return statistics.mean(learner.recall(key, end) for learner in learners for key in learner.cards)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--weeks", type=int, default=12)
    parser.add_argument("--chapters", type=int, default=30)
    parser.add_argument("--cards", type=int, default=12)
    parser.add_argument("--learners", type=int, default=40)
    parser.add_argument("--shows-up", type=float, default=0.85)
    report(parser.parse_args())
