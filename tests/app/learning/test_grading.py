"""Grades: what counts, when, and how much of it is left."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.learning.deadlines import read_wall_time
from app.learning.grade_sentences import say_due, say_grade, say_points, say_span, say_worth
from app.learning.grading import (
    Allowance,
    Assignment,
    Counts,
    Credit,
    Grade,
    GradeState,
    HandedIn,
    Kind,
    Override,
    Policy,
    compute_grade,
    find_terms,
)

ZURICH = ZoneInfo("Europe/Zurich")
POLICY = Policy(ZURICH, late_percent_a_day=10)
DUE = read_wall_time(datetime(2026, 12, 4, 18), ZURICH)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
CLOSES = DUE + 7 * DAY
LAB = Assignment("a1", Kind.EXERCISE, "relu-vjp", "ReLU", points=10, due_at=DUE, closes_at=CLOSES)
QUESTIONS = Assignment("a2", Kind.RETRIEVAL, "tape", "Tape", points=4, credit=Credit.SHARE, due_at=DUE)
GUESSES = Assignment("a3", Kind.PREDICTIONS, "tape", "Tape", points=2, counts=Counts.DONE, opens_at=DUE - DAY)

TIMES = st.integers(-20 * 24 * 60, 20 * 24 * 60).map(lambda minutes: DUE + timedelta(minutes=minutes))
GRANTED = st.builds(
    Allowance, due_at=st.none() | TIMES, closes_at=st.none() | TIMES, attempts=st.none() | st.integers(0, 5)
)
ASSIGNED = st.builds(
    Assignment,
    id=st.just("a"),
    kind=st.sampled_from([Kind.EXERCISE, Kind.RETRIEVAL]),
    target=st.just("t"),
    title=st.just("T"),
    points=st.just(10.0),
    credit=st.sampled_from(Credit),
    due_at=st.none() | TIMES,
    closes_at=st.none() | TIMES,
    late_percent_a_day=st.none() | st.integers(0, 100),
    attempts=st.none() | st.integers(1, 4),
)
WORK = st.lists(st.builds(HandedIn, TIMES, st.sampled_from([0.0, 0.25, 0.75, 1.0]), st.sampled_from(["", "q"]))).map(
    lambda made: sorted(made, key=lambda one: one.at)
)
ITEMS = ("", "q")


def grade_lab(*work: HandedIn, now: datetime = DUE, allowance: Allowance | None = None, **changed: object) -> Grade:
    terms = find_terms(replace(LAB, **changed), POLICY, allowance)  # type: ignore[arg-type]
    return compute_grade(terms, work, now)


def explain_lab(*work: HandedIn, now: datetime = DUE, **changed: object) -> str:
    terms = find_terms(replace(LAB, **changed), POLICY)  # type: ignore[arg-type]
    return say_grade(compute_grade(terms, work, now), terms)


def passed(at: datetime) -> HandedIn:
    return HandedIn(at, 1.0)


def test_before_anything_is_handed_in_there_is_no_grade_yet() -> None:
    grade = grade_lab(now=DUE + 6 * DAY)

    assert (grade.state, grade.points, grade.is_final) == (GradeState.NOT_YET, None, False)


def test_zero_is_a_grade_only_once_it_is_closed() -> None:
    grade = grade_lab(HandedIn(DUE - HOUR, 0), now=CLOSES + HOUR)

    assert (grade.state, grade.points, grade.is_final) == (GradeState.NOTHING, 0, True)


def test_a_pass_in_time_earns_all_points() -> None:
    grade = grade_lab(HandedIn(DUE - 2 * HOUR, 0), passed(DUE - HOUR))

    assert (grade.state, grade.points, grade.is_final) == (GradeState.EARNED, 10, True)


@pytest.mark.parametrize(("after", "points"), [(HOUR, 9), (DAY, 9), (DAY + HOUR, 8), (6 * DAY + HOUR, 3)])
def test_each_day_late_takes_its_part(after: timedelta, points: float) -> None:
    assert grade_lab(passed(DUE + after)).points == pytest.approx(points)


def test_the_best_attempt_counts_and_a_late_one_does_not_lower_it() -> None:
    partly = HandedIn(DUE - HOUR, 0.95)

    assert grade_lab(partly, passed(DUE + HOUR), credit=Credit.SHARE).points == pytest.approx(9.5)


def test_a_share_of_the_cases_earns_nothing_where_only_a_pass_counts() -> None:
    assert grade_lab(HandedIn(DUE - HOUR, 0.95)).points is None


def test_what_is_handed_in_after_closing_earns_nothing() -> None:
    grade = grade_lab(passed(CLOSES + HOUR), now=CLOSES + DAY)

    assert (grade.state, grade.points) == (GradeState.NOTHING, 0)


def test_what_was_handed_in_before_the_opening_counts_only_for_predictions() -> None:
    early = DUE - 2 * DAY
    lab = grade_lab(passed(early), opens_at=DUE - DAY)
    guesses = compute_grade(find_terms(GUESSES, POLICY), [HandedIn(early, 1, "p")], DUE, ["p"])

    assert lab.state is GradeState.NOT_YET
    assert guesses.points == 2


def test_attempts_beyond_the_limit_do_not_count() -> None:
    failed = HandedIn(DUE - 2 * HOUR, 0)
    grade = grade_lab(failed, failed, passed(DUE - HOUR), attempts=2)

    assert (grade.state, grade.points, grade.used) == (GradeState.NOTHING, 0, {"": 2})


def test_more_attempts_may_be_granted() -> None:
    failed = HandedIn(DUE - 2 * HOUR, 0)

    assert grade_lab(failed, failed, passed(DUE - HOUR), attempts=2, allowance=Allowance(attempts=3)).points == 10


def test_an_extension_that_lies_before_a_deadline_moved_later_takes_nothing_away() -> None:
    extension = Allowance(due_at=DUE - 3 * DAY)

    assert grade_lab(passed(DUE), allowance=extension).points == 10


def test_an_extension_beyond_the_closing_moves_the_closing_too() -> None:
    extension = Allowance(due_at=CLOSES + 3 * DAY)

    assert grade_lab(passed(CLOSES + 2 * DAY), allowance=extension).points == 10


def test_excused_has_no_points_and_an_override_comes_before_everything() -> None:
    excused = Allowance(excused=True, reason="ill")
    terms = find_terms(LAB, POLICY, excused)

    assert (grade_lab(allowance=excused).state, grade_lab(allowance=excused).points) == (GradeState.EXCUSED, None)
    assert compute_grade(terms, [], DUE, override=Override(7.5, "oral exam")).points == 7.5
    assert compute_grade(terms, [], DUE, override=Override(None, "withdrawn")).state is GradeState.EXCUSED


def test_a_share_of_the_questions_earns_a_share_each_at_its_own_time() -> None:
    work = [HandedIn(DUE - HOUR, 1, "q1"), HandedIn(DUE + HOUR, 1, "q2"), HandedIn(DUE - HOUR, 1, "gone")]
    terms = find_terms(QUESTIONS, POLICY)
    grade = compute_grade(terms, work, DUE, ["q1", "q2", "q3", "q4"])

    assert grade.points == pytest.approx(4 * (1 + 0.9) / 4)
    assert say_grade(grade, terms) == (
        "2 of 4 questions answered right. 1 of them 1 h after the deadline: 1 day late, 10 % off for each day."
    )


def test_questions_that_count_as_a_whole_wait_for_the_last_one() -> None:
    terms = find_terms(replace(QUESTIONS, credit=Credit.WHOLE), POLICY)
    half = compute_grade(terms, [HandedIn(DUE, 1, "q1")], DUE, ["q1", "q2"])
    whole = compute_grade(terms, [HandedIn(DUE, 1, "q1"), HandedIn(DUE + HOUR, 1, "q2")], DUE, ["q1", "q2"])

    assert half.points is None
    assert say_grade(half, terms) == "1 of 2 questions answered right; it counts once all are."
    assert whole.points == pytest.approx(3.6)


def test_a_chapter_without_questions_gives_no_grade() -> None:
    terms = find_terms(QUESTIONS, POLICY)
    grade = compute_grade(terms, [], DUE + 99 * DAY, [])

    assert (grade.points, grade.is_final) == (None, False)
    assert say_grade(grade, terms) == "The course has nothing to hand in here now."


def test_each_grade_says_why() -> None:
    assert explain_lab() == "Nothing handed in yet."
    assert explain_lab(HandedIn(DUE - HOUR, 0)) == "1 submission, none passed."
    assert explain_lab(passed(DUE - HOUR)) == "Passed on Fri 4 Dec 2026 17:00 (Europe/Zurich). On time."
    assert explain_lab(passed(DUE + 2 * HOUR)) == (
        "Passed on Fri 4 Dec 2026 20:00 (Europe/Zurich). 2 h after the deadline: 1 day late, 10 % off for each day."
    )
    assert explain_lab(now=CLOSES + HOUR) == (
        "Nothing was handed in. It closed on Fri 11 Dec 2026 18:00 (Europe/Zurich)."
    )
    assert explain_lab(HandedIn(DUE - HOUR, 0), attempts=1) == (
        "1 submission, none passed. No attempt that counts is left."
    )


def test_what_was_right_too_late_is_not_said_to_be_wrong() -> None:
    late, closed = CLOSES + HOUR, "It closed on Fri 11 Dec 2026 18:00 (Europe/Zurich)."
    terms = find_terms(replace(QUESTIONS, closes_at=CLOSES), POLICY)
    grade = compute_grade(terms, [HandedIn(late, 1, "q1")], late, ["q1", "q2"])

    assert explain_lab(passed(late), now=late) == f"1 submission; what passed came too late. {closed}"
    assert say_grade(grade, terms) == f"0 of 2 questions answered right in time. {closed}"


def test_attempts_are_said_to_be_used_up_only_where_that_is_why_nothing_more_can_be_earned() -> None:
    late = CLOSES + HOUR
    wrong = [HandedIn(DUE - HOUR, 0, "q1")]
    share = find_terms(replace(QUESTIONS, closes_at=CLOSES, attempts=1, credit=Credit.SHARE), POLICY)
    whole = find_terms(replace(QUESTIONS, attempts=1, credit=Credit.WHOLE, due_at=None, closes_at=None), POLICY)

    said = [
        say_grade(compute_grade(terms, wrong, now, ["q1", "q2"]), terms)
        for terms, now in ((share, late), (whole, DUE))
    ]

    assert said == [
        "0 of 2 questions answered right. It closed on Fri 11 Dec 2026 18:00 (Europe/Zurich).",
        "0 of 2 questions answered right; it counts once all are. No attempt that counts is left.",
    ]


def test_what_an_attempt_now_would_count_is_said_before_it_is_made() -> None:
    limited = find_terms(replace(LAB, attempts=3, opens_at=DUE - 9 * DAY), POLICY)

    assert say_due(limited) == "due Fri 4 Dec 2026 18:00 (Europe/Zurich)"
    assert say_worth(limited, 1, DUE - HOUR) == "2 of 3 attempts left"
    assert say_worth(limited, 1, DUE + HOUR) == "a submission now counts 10 % less; 2 of 3 attempts left"
    assert say_worth(limited, 3, DUE) == (
        "you have used all 3 attempts: a submission now is still judged, and does not count"
    )
    assert say_worth(limited, 0, CLOSES + HOUR) == "it is closed: a submission now does not count"
    assert say_worth(limited, 0, DUE - 10 * DAY) == (
        "a submission counts from Wed 25 Nov 2026 18:00 (Europe/Zurich) on"
    )
    assert say_worth(find_terms(QUESTIONS, POLICY), 0, DUE + 30 * DAY) == (
        "an answer now counts nothing, because it is too late"
    )


def test_a_limit_for_questions_is_said_for_each_of_them() -> None:
    limited = [find_terms(replace(QUESTIONS, attempts=attempts), POLICY) for attempts in (1, 2)]

    assert [say_worth(terms, 0, DUE) for terms in limited] == [
        "only the first answer to each question counts",
        "only the first 2 answers to each question count",
    ]
    assert say_worth(find_terms(replace(GUESSES, attempts=1), POLICY), 0, DUE) == ""


def test_points_have_at_most_two_decimals() -> None:
    assert [say_points(points) for points in (10.0, 7.5, 29 / 3, 12345.67, 0.0, None)] == [
        "10", "7.5", "9.67", "12345.67", "0", "–",
    ]  # fmt: skip


def test_a_length_of_time_is_said_in_its_largest_unit() -> None:
    spans = [timedelta(minutes=5), 2 * HOUR, 47 * HOUR, 3 * DAY]

    assert [say_span(span) for span in spans] == ["5 min", "2 h", "47 h", "3 days"]


@given(ASSIGNED, GRANTED, TIMES, TIMES, st.integers(0, 90))
def test_handing_in_later_never_earns_more(
    assignment: Assignment, allowance: Allowance, first: datetime, second: datetime, grace: int
) -> None:
    policy = Policy(ZURICH, timedelta(minutes=grace), 10)
    terms = find_terms(assignment, policy, allowance)
    early, late = sorted((first, second))

    def points(at: datetime) -> float:
        work = [HandedIn(at, 1, item) for item in ITEMS]
        return compute_grade(terms, work, late, ITEMS).points or 0

    assert points(early) >= points(late)


@given(ASSIGNED, GRANTED, WORK, TIMES)
def test_an_allowance_never_lowers_a_grade(
    assignment: Assignment, allowance: Allowance, work: list[HandedIn], now: datetime
) -> None:
    without = compute_grade(find_terms(assignment, POLICY), work, now, ITEMS)
    granted = compute_grade(find_terms(assignment, POLICY, allowance), work, now, ITEMS)

    assert (granted.points or 0) >= (without.points or 0)


@given(ASSIGNED, WORK, TIMES)
def test_one_more_attempt_never_lowers_a_grade(assignment: Assignment, work: list[HandedIn], now: datetime) -> None:
    terms = find_terms(assignment, POLICY)
    points = [compute_grade(terms, work[:n], now, ITEMS).points or 0 for n in range(len(work) + 1)]

    assert points == sorted(points)
    assert all(0 <= one <= assignment.points for one in points)


@given(ASSIGNED, WORK, TIMES)
def test_a_final_grade_is_not_changed_by_anything_handed_in_afterwards(
    assignment: Assignment, work: list[HandedIn], now: datetime
) -> None:
    terms = find_terms(assignment, POLICY)
    before = [one for one in work if one.at <= now]
    grade = compute_grade(terms, before, now, ITEMS)
    more = [*before, *(HandedIn(now, 1, item) for item in ITEMS)]

    assert not grade.is_final or (compute_grade(terms, more, now, ITEMS).points or 0) == (grade.points or 0)


@given(ASSIGNED, WORK, st.integers(1, 4000))
def test_a_policy_in_utc_and_in_a_zone_without_changes_agrees(
    assignment: Assignment, work: list[HandedIn], minutes: int
) -> None:
    """A zone matters only through its changes of the clocks."""
    now = DUE + timedelta(minutes=minutes)
    fixed = [Policy(ZoneInfo(name), late_percent_a_day=10) for name in ("UTC", "Asia/Kolkata")]
    grades = [compute_grade(find_terms(assignment, policy), work, now, ITEMS) for policy in fixed]

    assert grades[0] == grades[1]
    assert now.tzinfo is UTC
