"""When questions come back: FSRS's own intervals, the learner's days, and a day's limits."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest
from fsrs import Card as FsrsCard
from fsrs import Scheduler
from hypothesis import given
from hypothesis import strategies as st

from app.learning.calibration import Confidence
from app.learning.review import (
    CARDS_A_DAY,
    MAX_DAYS,
    NEW_A_DAY,
    SCHEDULER,
    Card,
    Key,
    Memory,
    Rating,
    Reviewed,
    choose_due_day,
    find_day,
    find_spread,
    is_recalled,
    list_usual_days,
    plan_day,
    predict_retained,
    rate_mark,
    rate_rubric,
    remember,
)

FIRST = date(2026, 3, 1)
RATINGS = st.sampled_from([Rating.Again, Rating.Hard, Rating.Good])
ZONES = sorted(available_timezones())
KEY = Key("one", "q")


def day(number: int) -> date:
    return FIRST + timedelta(days=number)


def reviewed(*answers: tuple[int, Rating], in_review: bool = False) -> list[Reviewed]:
    return [Reviewed(day(number), rating, in_review) for number, rating in answers]


def recalled(*answers: tuple[int, Rating], in_review: bool = False) -> Memory:
    memory = remember(reviewed(*answers, in_review=in_review))
    assert memory is not None
    return memory


def card(name: str, due: int, *answers: tuple[int, Rating], in_review: bool = False) -> Card:
    return Card(Key("one", name), recalled(*answers, in_review=in_review), day(due))


@given(st.lists(st.tuples(st.integers(1, 90), RATINGS), min_size=1, max_size=12))
def test_intervals_are_those_of_py_fsrs(steps: list[tuple[int, Rating]]) -> None:
    """The oracle keeps one card of its own all the way; ours is taken apart and restored at each answer."""
    theirs, on = FsrsCard(card_id=7), FIRST
    answers = []
    for gap, rating in steps:
        on += timedelta(days=gap)
        at = datetime(on.year, on.month, on.day, 12, tzinfo=UTC)
        theirs, _ = SCHEDULER.review_card(theirs, rating, at)
        answers.append(Reviewed(on, rating))
        ours = remember(answers)
        assert ours is not None
        assert (ours.interval_days, ours.stability, ours.difficulty) == (
            (theirs.due - at).days,
            theirs.stability,
            theirs.difficulty,
        )


@pytest.mark.parametrize(
    ("rating", "intervals"),
    [(Rating.Good, [2, 11, 46, 60]), (Rating.Hard, [1, 3, 7, 12]), (Rating.Again, [1, 1, 1, 1])],
)
def test_the_usual_courses(rating: Rating, intervals: list[int]) -> None:
    found, answers, on = [], [], 0
    for _ in intervals:
        answers.append((on, rating))
        found.append(recalled(*answers).interval_days)
        on += found[-1]

    assert found == intervals


def test_a_question_that_is_always_right_is_asked_ever_more_rarely() -> None:
    assert list_usual_days(5) == (2, 11, 46, 60, 60)


@given(st.lists(st.tuples(st.integers(0, 30), RATINGS), min_size=1, max_size=20))
def test_only_the_first_answer_of_a_day_counts(answers: list[tuple[int, Rating]]) -> None:
    in_order = sorted(answers, key=lambda answer: answer[0])
    firsts = {number: rating for number, rating in reversed(in_order)}

    memory = recalled(*in_order)

    assert memory == recalled(*sorted(firsts.items()))
    assert memory.reps == len(firsts)
    assert memory.lapses + memory.right_days == memory.reps


@given(
    st.sampled_from(ZONES),
    st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31)),
    st.integers(5, 22),
    st.integers(1, 60),
)
def test_the_same_hour_some_days_later_is_that_many_days_later(
    zone: str, begun: datetime, hour: int, later: int
) -> None:
    """In every zone and over every change of its clock; counted in 24 hours it would be a day off twice a year."""
    here, wall = ZoneInfo(zone), begun.replace(hour=hour)
    moments = [(wall + timedelta(days=count)).replace(tzinfo=here).astimezone(UTC) for count in (0, later)]

    first, second = (find_day(moment, here) for moment in moments)

    assert (first, second) == (wall.date(), wall.date() + timedelta(days=later))
    ours = remember([Reviewed(first, Rating.Good), Reviewed(second, Rating.Good)])
    theirs = recalled((0, Rating.Good), (later, Rating.Good))
    assert ours is not None
    assert (ours.stability, ours.interval_days) == (theirs.stability, theirs.interval_days)


@given(st.sampled_from(ZONES), st.lists(st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31)), min_size=2))
def test_days_never_run_backwards(zone: str, moments: list[datetime]) -> None:
    days = [find_day(moment.replace(tzinfo=UTC), ZoneInfo(zone)) for moment in sorted(moments)]

    assert days == sorted(days)


def test_midnight_is_the_learners_own() -> None:
    late = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)

    assert find_day(late, ZoneInfo("UTC")) == date(2026, 3, 1)
    assert find_day(late, ZoneInfo("Asia/Tokyo")) == date(2026, 3, 2)
    assert find_day(late, ZoneInfo("America/Lima")) == date(2026, 3, 1)


def test_confidence_is_not_graded_but_a_guess_shows_little() -> None:
    assert {rate_mark(False, confidence) for confidence in (*Confidence, None)} == {Rating.Again}
    assert rate_mark(True, Confidence.GUESS) is Rating.Hard
    assert {rate_mark(True, level) for level in (Confidence.FAIRLY_SURE, Confidence.CERTAIN, None)} == {Rating.Good}


def test_an_open_answer_counts_as_right_with_more_than_half_of_its_points() -> None:
    assert [is_recalled(ticked, 4) for ticked in range(5)] == [False, False, False, True, True]


def test_an_open_answer_is_rated_by_its_rubric() -> None:
    assert [rate_rubric(ticked, 4) for ticked in range(5)] == [
        Rating.Again,
        Rating.Again,
        Rating.Hard,
        Rating.Hard,
        Rating.Good,
    ]


@pytest.mark.parametrize("interval", [1, 2, 3, 5, 7, 11, 20, 46, 58, 60])
def test_days_are_spread_as_far_as_py_fsrs_would(interval: int) -> None:
    fuzzy = Scheduler(maximum_interval=MAX_DAYS)
    drawn = {fuzzy._get_fuzzed_interval(interval=timedelta(days=interval)).days for _ in range(4000)}

    assert find_spread(interval) == (min(drawn), max(drawn))


def test_of_the_days_in_reach_the_one_with_the_fewest_cards_is_taken() -> None:
    memory = recalled((0, Rating.Good), (2, Rating.Good))
    free = day(2 + 12)
    load = {day(2 + count): 3 for count in range(1, 30)} | {free: 1}

    assert choose_due_day(KEY, memory, load, "ada") == free


@given(st.lists(RATINGS, min_size=1, max_size=6), st.dictionaries(st.integers(0, 400), st.integers(0, 9)))
def test_a_due_day_is_in_reach_and_never_sooner_than_before(ratings: list[Rating], load: dict[int, int]) -> None:
    answers: list[tuple[int, Rating]] = []
    on = 0
    for rating in ratings:
        answers.append((on, rating))
        memory = recalled(*answers)
        days = (choose_due_day(KEY, memory, {day(at): count for at, count in load.items()}, "ada") - day(on)).days
        shortest, longest = find_spread(memory.interval_days)
        if rating is Rating.Again:
            assert days == 1
        else:
            assert shortest <= days <= longest
            assert days > memory.previous_days or days == longest
        on += days


def test_a_missed_question_is_due_tomorrow_whatever_came_before() -> None:
    memory = recalled((0, Rating.Good), (2, Rating.Good), (13, Rating.Good), (59, Rating.Again), (59, Rating.Good))

    assert choose_due_day(KEY, memory, {}, "ada") == day(60)
    assert (memory.lapses, memory.right_days) == (1, 3)


def test_a_day_asks_what_is_most_overdue_for_its_interval_first() -> None:
    long = card("long", 30, (0, Rating.Good), (20, Rating.Good))
    short = card("short", 31, (0, Rating.Good), (29, Rating.Good))

    assert [one.key.question for one in plan_day([long, short], day(33)).cards] == ["short", "long"]


def test_what_is_not_due_is_not_asked() -> None:
    planned = plan_day([card("q", 2, (0, Rating.Good))], day(1))

    assert (planned.cards, planned.waiting) == ((), 0)


def test_a_day_has_limits_and_what_was_asked_counts() -> None:
    old = [card(f"old-{n}", 2, (0, Rating.Good), (1, Rating.Again)) for n in range(30)]
    new = [card(f"new-{n}", 2, (0, Rating.Good)) for n in range(10)]

    before = plan_day([*old, *new], day(5))

    assert len(before.cards) == CARDS_A_DAY
    assert sum(one.is_new for one in before.cards) <= NEW_A_DAY
    assert before.waiting == 40 - CARDS_A_DAY
    done = [card(f"done-{n}", 9, (0, Rating.Good), (5, Rating.Good), in_review=True) for n in range(4)]
    after = plan_day([*new, *done], day(5))
    assert (len(after.cards), after.waiting) == (NEW_A_DAY - 4, 9)


def test_answers_in_a_chapter_use_nothing_of_the_days_limit() -> None:
    read = [card(f"read-{n}", 9, (0, Rating.Good), (5, Rating.Good)) for n in range(25)]

    assert len(plan_day([*read, card("q", 2, (0, Rating.Good))], day(5)).cards) == 1


def test_right_each_time_a_question_is_retained_on_day_59() -> None:
    fresh = card("q", 2, (0, Rating.Good))

    assert predict_retained(fresh, day(0)) == day(59)
    assert predict_retained(card("q", 13, (0, Rating.Good), (2, Rating.Good)), day(2)) == day(59)


def test_a_retained_question_has_no_day_to_wait_for() -> None:
    kept = card("q", 119, (0, Rating.Good), (2, Rating.Good), (13, Rating.Good), (59, Rating.Good))

    assert predict_retained(kept, day(60)) is None


def test_what_is_overdue_is_predicted_from_today() -> None:
    fresh = card("q", 2, (0, Rating.Good))

    late = predict_retained(fresh, day(10))
    assert late is not None
    assert late > day(59)
