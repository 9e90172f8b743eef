"""The calendar as other programs read it: `icalendar` reads back what we write."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st
from icalendar import Calendar

from app.learning.calendar import Day, fold, list_days, write_calendar
from app.learning.review import Card, Key, Rating, Reviewed, remember

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TODAY = NOW.date()
BERLIN = ZoneInfo("Europe/Berlin")


def card_due(day: date, name: str = "q") -> Card:
    memory = remember([Reviewed(date(2026, 2, 1), Rating.Good)])
    assert memory
    return Card(Key("one", name), memory, day)


def read(days: list[Day], title: str = "Unwind", zone: ZoneInfo = BERLIN) -> Calendar:
    text = write_calendar(days, zone, NOW, title, "https://unwind.example/review")
    calendar = Calendar.from_ical(text)
    assert isinstance(calendar, Calendar)
    return calendar


def test_questions_are_counted_by_day_and_what_is_overdue_comes_today() -> None:
    cards = [card_due(date(2026, 2, 20)), card_due(TODAY), card_due(date(2026, 3, 4)), card_due(date(2026, 3, 4))]

    days = list_days(cards, TODAY, "feed")

    assert days == (Day(TODAY, 2, "2026-03-01-feed@review"), Day(date(2026, 3, 4), 2, "2026-03-04-feed@review"))


def test_a_reader_finds_each_day_at_nine_on_the_learners_clock() -> None:
    """In Berlin nine o'clock is 8:00 UTC in winter, and 7:00 after the change of 29 March."""
    calendar = read([Day(date(2026, 3, 4), 1, "a"), Day(date(2026, 4, 1), 12, "b")])

    events = [
        (str(event["SUMMARY"]), event.decoded("DTSTART"), "DTEND" in event, str(event["TRANSP"]))
        for event in calendar.walk("VEVENT")
    ]
    assert events == [
        ("Unwind: 1 question to review", datetime(2026, 3, 4, 8, tzinfo=UTC), False, "TRANSPARENT"),
        ("Unwind: 12 questions to review", datetime(2026, 4, 1, 7, tzinfo=UTC), False, "TRANSPARENT"),
    ]
    assert {event.decoded("DTSTAMP") for event in calendar.walk("VEVENT")} == {NOW}


def test_an_empty_calendar_is_a_calendar() -> None:
    assert read([]).walk("VEVENT") == []


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp", "Zs"]), min_size=1, max_size=200))
def test_any_title_is_read_back_as_it_was(title: str) -> None:
    (event,) = read([Day(TODAY, 2, "a")], title).walk("VEVENT")

    assert str(event["SUMMARY"]) == f"{title}: 2 questions to review"


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=400))
def test_no_line_is_longer_than_the_standard_allows_and_nothing_is_lost(line: str) -> None:
    folded = fold(line)

    pieces = folded.split("\r\n")
    assert pieces.pop() == ""
    assert max(len(piece.encode()) for piece in pieces) <= 73
    assert folded.replace("\r\n ", "").removesuffix("\r\n") == line


def test_a_title_cannot_begin_a_line_of_its_own() -> None:
    text = write_calendar([Day(TODAY, 2, "a")], BERLIN, NOW, "x\r\nATTACH:evil", "https://unwind.example/review")

    assert "\r\nATTACH" not in text


def test_every_day_is_read_back() -> None:
    days = [Day(TODAY + timedelta(days=number), number + 1, str(number)) for number in range(60)]

    assert len(read(days).walk("VEVENT")) == len(days)
