"""Which questions come today, of those that the course still has, and days in words. No I/O."""

from collections.abc import Collection
from datetime import date, datetime
from zoneinfo import ZoneInfo

from app.course.drills.drill import ANSWERS
from app.course.model import Course
from app.course.reviewable import find_question
from app.learning.review import Today, find_day, plan_day
from app.storage.records import Deck


def find_today(deck: Deck, now: datetime) -> date:
    return find_day(now, ZoneInfo(deck.zone))


def show_date(at: datetime, deck: Deck) -> str:
    """The learner's own date at that moment, as 2026-03-01."""
    return find_today(deck, at).isoformat()


def find_due_drills(course: Course, deck: Deck, now: datetime) -> dict[str, str]:
    """The drills whose day has come, with their generators' digests."""
    today = find_today(deck, now)
    due = {card.key.question for card in deck.cards if card.key.chapter == ANSWERS and card.due_on <= today}
    return {drill.id: drill.digest for drill in course.drills if drill.id in due}


def plan_review(course: Course, deck: Deck, now: datetime, askable: Collection[str]) -> Today:
    """What to ask today. Of the drills whose day has come, only those that are `askable` count."""
    today = find_today(deck, now)
    asked = (
        card
        for card in deck.cards
        if find_question(course, card.key.chapter, card.key.question)
        and (card.key.chapter != ANSWERS or card.due_on > today or card.key.question in askable)
    )
    return plan_day(asked, today)


def say_day(day: date, today: date) -> str:
    """A day as one says it: today, tomorrow, "on Wednesday 4 March"."""
    away = (day - today).days
    if away <= 1:
        return "tomorrow" if away == 1 else "today"
    return f"on {day:%A} {day.day} {day:%B}"
