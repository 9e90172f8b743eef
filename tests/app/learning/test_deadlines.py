"""Deadlines in every time zone that this machine knows, also around the hours that clocks skip or repeat."""

import zoneinfo
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.learning.deadlines import add_days, count_days_late, find_end, latest, move, read_wall_time, say_moment

ZURICH = ZoneInfo("Europe/Zurich")
NO_GRACE = timedelta()
HOUR = timedelta(hours=1)

ZONES = st.sampled_from(sorted(zoneinfo.available_timezones())).map(ZoneInfo)
WALL_TIMES = st.datetimes(datetime(2000, 1, 1), datetime(2037, 12, 31)).map(
    lambda t: t.replace(second=0, microsecond=0)
)
GRACE = st.integers(0, 3000).map(lambda minutes: timedelta(minutes=minutes))


def at(*wall: int, zone: ZoneInfo = ZURICH) -> datetime:
    return read_wall_time(datetime(*wall), zone)  # type: ignore[arg-type]


@lru_cache
def find_change(zone: ZoneInfo, year: int, *, skips: bool) -> datetime | None:
    """The hour of the year after which the zone's clocks skip forward, or go back, counted in UTC."""
    hour = datetime(year, 1, 1, tzinfo=UTC)
    for _ in range(366 * 24):
        before, after = (moment.astimezone(zone).utcoffset() for moment in (hour, hour + HOUR))
        assert before is not None
        assert after is not None
        if after != before and (after > before) == skips:
            return hour
        hour += HOUR
    return None


def test_a_skipped_hour_moves_forward() -> None:
    assert at(2026, 3, 29, 2, 30) == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
    assert say_moment(at(2026, 3, 29, 2, 30), ZURICH) == "Sun 29 Mar 2026 03:30 (Europe/Zurich)"


def test_of_a_doubled_hour_the_later_counts() -> None:
    assert at(2026, 10, 25, 2, 30) == datetime(2026, 10, 25, 1, 30, tzinfo=UTC)


@pytest.mark.parametrize("start", [(2026, 3, 23, 18), (2026, 10, 19, 18)])
def test_a_week_later_is_the_same_time_of_day_across_both_changes(start: tuple[int, ...]) -> None:
    year, month, day, hour = start

    assert add_days(at(*start), 7, ZURICH) == at(year, month, day + 7, hour)


def test_a_deadline_includes_its_minute() -> None:
    due = at(2026, 12, 4, 18)

    assert count_days_late(due + timedelta(seconds=59.9), due, ZURICH, NO_GRACE) == 0
    assert count_days_late(due + timedelta(seconds=60), due, ZURICH, NO_GRACE) == 1


def test_grace_moves_each_day_of_lateness() -> None:
    due, grace = at(2026, 12, 4, 18), timedelta(minutes=15)

    assert count_days_late(at(2026, 12, 4, 18, 15), due, ZURICH, grace) == 0
    assert count_days_late(at(2026, 12, 4, 18, 16), due, ZURICH, grace) == 1
    assert count_days_late(at(2026, 12, 5, 18, 15), due, ZURICH, grace) == 1
    assert count_days_late(at(2026, 12, 5, 18, 16), due, ZURICH, grace) == 2


def test_24_and_a_half_hours_that_the_clock_shows_as_23_and_a_half_are_one_day() -> None:
    due = at(2026, 10, 24, 18)
    handed_in = due + timedelta(hours=24.5)

    assert handed_in == at(2026, 10, 25, 17, 30)
    assert count_days_late(handed_in, due, ZURICH, NO_GRACE) == 1


def test_23_and_a_half_hours_that_the_clock_shows_as_24_and_a_half_are_two_days() -> None:
    due = at(2026, 3, 28, 18)

    assert count_days_late(due + timedelta(hours=23.5), due, ZURICH, NO_GRACE) == 2


def test_the_latest_of_deadlines_is_none_if_one_of_them_never_comes() -> None:
    early, late = at(2026, 12, 4, 18), at(2026, 12, 6, 18)

    assert latest(late, early) == late
    assert latest(late, None) is None


def test_a_plan_moves_to_another_zone_at_the_same_time_of_day() -> None:
    tokyo = ZoneInfo("Asia/Tokyo")

    assert move(at(2026, 3, 27, 18), 7, ZURICH, tokyo) == at(2026, 4, 3, 18, zone=tokyo)


@given(WALL_TIMES, ZONES)
def test_a_wall_time_that_exists_is_shown_as_it_was_written(wall: datetime, zone: ZoneInfo) -> None:
    """And one that does not exist is shown later, on the same clock."""
    shown = read_wall_time(wall, zone).astimezone(zone).replace(tzinfo=None)
    exists = wall.replace(tzinfo=zone).astimezone(UTC).astimezone(zone).replace(tzinfo=None) == wall

    assert shown == wall if exists else shown > wall


@given(st.sampled_from(["Europe/Zurich", "America/New_York", "Australia/Lord_Howe", "Pacific/Auckland"]), st.data())
def test_around_both_changes_no_later_moment_shows_the_same_time(name: str, data: st.DataObject) -> None:
    """Lord Howe's clocks move by half an hour."""
    zone = ZoneInfo(name)
    change = find_change(zone, 2026, skips=data.draw(st.booleans()))
    assert change is not None
    wall = change.astimezone(zone).replace(tzinfo=None) + timedelta(minutes=data.draw(st.integers(-300, 300)))
    moment = read_wall_time(wall, zone)

    assert moment.astimezone(zone).replace(tzinfo=None) - wall in (0 * HOUR, HOUR / 2, HOUR)
    for minutes in (30, 60, 90):
        assert (moment + timedelta(minutes=minutes)).astimezone(zone).replace(tzinfo=None) != wall


@given(WALL_TIMES, ZONES, st.integers(0, 400), GRACE)
def test_days_late_are_the_days_that_must_be_added_to_the_deadline(
    wall: datetime, zone: ZoneInfo, days: int, grace: timedelta
) -> None:
    """The last moment of the n-th day is n days late, and the next one is more."""
    due = read_wall_time(wall, zone)
    end = find_end(add_days(due, days, zone), grace)

    assert count_days_late(end - timedelta(microseconds=1), due, zone, grace) <= days
    assert count_days_late(end, due, zone, grace) > days


@given(WALL_TIMES, ZONES, GRACE, st.floats(0, 1e7), st.floats(0, 1e7))
def test_handing_in_later_is_never_fewer_days_late(
    wall: datetime, zone: ZoneInfo, grace: timedelta, first: float, second: float
) -> None:
    due = read_wall_time(wall, zone)
    early, late = (due + timedelta(seconds=seconds) for seconds in sorted((first, second)))

    assert count_days_late(early, due, zone, grace) <= count_days_late(late, due, zone, grace)


@given(WALL_TIMES, ZONES, st.integers(0, 60), st.integers(0, 60))
def test_more_days_are_never_an_earlier_moment(wall: datetime, zone: ZoneInfo, few: int, more: int) -> None:
    moment = read_wall_time(wall, zone)

    assert add_days(moment, min(few, few + more), zone) <= add_days(moment, few + more, zone)
