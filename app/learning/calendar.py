"""The days on which questions come back, and deadlines, as a calendar for other programs (RFC 5545). Pure."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, tzinfo

from app.learning.review import Card

BEGINS = time(9)
"""When a day's review stands in the calendar, on the learner's clock."""

LINE_OCTETS = 73
"""A longer line is folded. The standard allows 75, which some readers count with the line's end."""


@dataclass(frozen=True)
class Day:
    """One day of review: how many questions come back. `uid` names its entry, also at the next reading."""

    on: date
    questions: int
    uid: str


@dataclass(frozen=True)
class Deadline:
    """When something is due for this learner. `uid` names its entry, also once its date has moved."""

    at: datetime
    words: str
    link: str
    uid: str


def list_days(cards: Iterable[Card], today: date, feed: str) -> tuple[Day, ...]:
    """The days from today on. What is overdue comes today. `feed` names the calendar without its secret."""
    counted = Counter(max(card.due_on, today) for card in cards)
    return tuple(Day(on, counted[on], f"{on.isoformat()}-{feed}@review") for on in sorted(counted))


def write_calendar(
    days: Iterable[Day], zone: tzinfo, now: datetime, title: str, link: str, deadlines: Iterable[Deadline] = ()
) -> str:
    """The calendar as text. Each entry is a moment without an end, which leaves the learner's time free.

    `link` leads to the review, and `zone` is the learner's.
    """
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Unwind//Review//EN",
        f"X-WR-CALNAME:{_escape(title)}",
    ]
    for day in days:
        begins = datetime.combine(day.on, BEGINS, zone)
        lines += _write_entry(day.uid, begins, f"{title}: {_say_questions(day)} to review", link, now)
    for one in deadlines:
        lines += _write_entry(one.uid, one.at, one.words, one.link, now)
    return "".join(fold(line) for line in [*lines, "END:VCALENDAR"])


def _say_questions(day: Day) -> str:
    return "1 question" if day.questions == 1 else f"{day.questions} questions"


def _write_entry(uid: str, begins: datetime, words: str, link: str, now: datetime) -> list[str]:
    return [
        "BEGIN:VEVENT",
        f"UID:{_escape(uid)}",
        f"DTSTAMP:{_stamp(now)}",
        f"DTSTART:{_stamp(begins)}",
        f"SUMMARY:{_escape(words)}",
        f"URL:{link}",
        "TRANSP:TRANSPARENT",
        "END:VEVENT",
    ]


def fold(line: str) -> str:
    """The line with its end, cut where it is too long, never within a character."""
    pieces, piece, size = [], "", 0
    for character in line:
        octets = len(character.encode())
        if size + octets > LINE_OCTETS:
            pieces.append(piece)
            # A continued line begins with a blank, which counts.
            piece, size = " ", 1
        piece += character
        size += octets
    return "".join(f"{one}\r\n" for one in [*pieces, piece])


def _stamp(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}"


def _escape(text: str) -> str:
    """Text as a value: control characters would end the line and begin another."""
    plain = " ".join(text.split())
    return plain.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,")
