"""What a platform is sent about a grade, when it is tried again, and what its answers mean."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.linking.delivery import (
    GIVEN_UP_AFTER,
    Step,
    find_next_try,
    find_stamp,
    read_answer,
    read_retry_after,
    scores_of,
    write_score,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "first", "second"),
    [
        (200, Step.DONE, Step.DONE),
        (201, Step.DONE, Step.DONE),
        (400, Step.LATER_STAMP, Step.STOP),
        (409, Step.LATER_STAMP, Step.WAIT),
        (401, Step.WAIT, Step.WAIT),
        (403, Step.STOP, Step.STOP),
        (404, Step.STOP, Step.STOP),
        (422, Step.STOP, Step.STOP),
        (429, Step.WAIT, Step.WAIT),
        (503, Step.WAIT, Step.WAIT),
        (302, Step.STOP, Step.STOP),
    ],
)
def test_what_an_answer_means(status: int, first: Step, second: Step) -> None:
    verdicts = [read_answer(status, is_second=again) for again in (False, True)]

    assert [verdict.step for verdict in verdicts] == [first, second]
    assert all(bool(verdict.problem) is (verdict.step not in (Step.DONE, Step.LATER_STAMP)) for verdict in verdicts)


def test_it_waits_longer_after_each_failure_and_gives_up_after_two_weeks() -> None:
    waits = [find_next_try(tries, NOON, NOON, {}) for tries in range(1, 9)]

    assert [(at - NOON).total_seconds() / 60 for at in waits if at] == [1, 5, 30, 120, 360, 1440, 1440, 1440]
    assert find_next_try(3, NOON - GIVEN_UP_AFTER, NOON, {}) is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120),
        ("999999", 86400),
        ("Sun, 01 Mar 2026 12:10:00 GMT", 600),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0),
        ("soon", 0),
        ("-5", 0),
        ("Sun, 01 Mar 2026 12:10:00", 0),
        ("", 0),
    ],
)
def test_a_platform_may_ask_for_patience(text: str, seconds: float) -> None:
    assert read_retry_after(text, NOON).total_seconds() == seconds
    assert find_next_try(1, NOON, NOON, {"retry-after": text}) == NOON + timedelta(seconds=max(60, seconds))


@given(st.lists(st.integers(-90_000, 90_000), min_size=2, max_size=12))
def test_timestamps_grow_by_whole_seconds_whatever_the_clock_does(milliseconds: list[int]) -> None:
    stamps: list[float] = []
    for each in milliseconds:
        now = NOON + timedelta(milliseconds=each)
        stamps.append(find_stamp(stamps[-1] if stamps else None, now))

    written = [write_score("ada", 1.0, 2.0, stamp)["timestamp"][:19] for stamp in stamps]
    assert written == sorted(set(written))


def test_a_score_is_written_as_the_specification_says() -> None:
    stamp = NOON.timestamp() + 0.25

    assert write_score("ada-1", 8.333333, 10.0, stamp) == {
        "userId": "ada-1",
        "timestamp": "2026-03-01T12:00:00.250Z",
        "scoreGiven": 8.33,
        "scoreMaximum": 10.0,
        "activityProgress": "Completed",
        "gradingProgress": "FullyGraded",
    }
    assert write_score("ada-1", None, 10.0, stamp) == {
        "userId": "ada-1",
        "timestamp": "2026-03-01T12:00:00.250Z",
        "activityProgress": "Initialized",
        "gradingProgress": "NotReady",
    }


@pytest.mark.parametrize(
    ("line_item", "scores"),
    [
        ("https://p.example/li/1", "https://p.example/li/1/scores"),
        ("https://p.example/li/1/", "https://p.example/li/1/scores"),
        ("https://p.example/li/1/lineitem?type_id=4", "https://p.example/li/1/lineitem/scores?type_id=4"),
    ],
)
def test_scores_go_below_the_line_item_s_path(line_item: str, scores: str) -> None:
    assert scores_of(line_item) == scores
