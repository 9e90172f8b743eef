"""Which questions come today, of those that the course still has. No I/O."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

from app.course.model import Course
from app.course.reviewable import find_question
from app.learning.review import Today, find_day, plan_day
from app.storage.records import Deck


def find_today(deck: Deck, now: datetime) -> date:
    return find_day(now, ZoneInfo(deck.zone))


def plan_review(course: Course, deck: Deck, now: datetime) -> Today:
    asked = (card for card in deck.cards if find_question(course, card.key.chapter, card.key.question))
    return plan_day(asked, find_today(deck, now))
