"""The maturity ladder of a chapter, from what its reader did."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from app.learning.ladder import Asked, Done, Recall, Rung, Step, climb_ladder, count_right_days

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ASKED = Asked(frozenset({"p"}), frozenset({"q", "r"}), frozenset({"engine"}), frozenset())
NOTHING = Done(False, frozenset(), (), frozenset())


def recall_on(*days: float, question: str = "q", correct: bool = True) -> tuple[Recall, ...]:
    return tuple(Recall(question, correct, NOON + timedelta(days=day)) for day in days)


def rungs(done: Done, asked: Asked = ASKED, now: datetime = NOON) -> dict[Rung, Step]:
    return {step.rung: step for step in climb_ladder(asked, done, now)}


def test_a_new_reader_stands_before_every_rung_that_the_chapter_has() -> None:
    steps = climb_ladder(ASKED, NOTHING, NOON)

    assert [(step.rung, step.done, step.total) for step in steps] == [
        (Rung.READ, 0, 1),
        (Rung.PREDICTED, 0, 1),
        (Rung.ANSWERED, 0, 2),
        (Rung.BUILT, 0, 1),
        (Rung.REMEMBERED, 0, 2),
    ]


def test_a_chapter_without_questions_asks_for_no_recall() -> None:
    bare = Asked(frozenset(), frozenset(), frozenset(), frozenset())

    assert [step.rung for step in climb_ladder(bare, NOTHING, NOON)] == [Rung.READ]


def test_every_question_has_to_be_right_once() -> None:
    one = rungs(Done(False, frozenset(), recall_on(0), frozenset()))
    both = rungs(Done(False, frozenset(), recall_on(0) + recall_on(0, question="r"), frozenset()))

    assert (one[Rung.ANSWERED].done, one[Rung.ANSWERED].reached) == (1, False)
    assert both[Rung.ANSWERED].reached


def test_a_wrong_answer_recalls_nothing() -> None:
    wrong = rungs(Done(False, frozenset(), recall_on(0, 1, correct=False), frozenset()), now=NOON + timedelta(days=2))

    assert (wrong[Rung.ANSWERED].done, wrong[Rung.REMEMBERED].done) == (0, 0)


def test_a_question_is_remembered_once_it_was_right_on_four_days() -> None:
    three = Done(False, frozenset(), recall_on(0, 2, 13), frozenset())
    four = Done(False, frozenset(), recall_on(0, 2, 13, 59), frozenset())
    later = NOON + timedelta(days=59)

    before, after = (rungs(done, now=later)[Rung.REMEMBERED] for done in (three, four))

    assert (before.done, after.done, after.total, after.reached) == (0, 1, 2, False)
    assert after.detail == "1 of 2 questions right on 4 different days"


def test_a_chapter_is_remembered_once_every_question_is() -> None:
    both = recall_on(0, 2, 13, 59) + recall_on(0, 2, 13, 59, question="r")

    assert rungs(Done(False, frozenset(), both, frozenset()), now=NOON + timedelta(days=59))[Rung.REMEMBERED].reached


def test_days_of_two_questions_do_not_add_up() -> None:
    mixed = recall_on(0, 1) + recall_on(2, 3, question="r")

    assert (
        rungs(Done(False, frozenset(), mixed, frozenset()), now=NOON + timedelta(days=9))[Rung.REMEMBERED].done == 0
    )


def test_four_times_on_one_day_is_one_day() -> None:
    recalls = recall_on(0, 0.1, 0.2, 0.3)

    assert count_right_days(recalls, NOON.date(), UTC) == {"q": 1}


def test_the_first_answer_of_a_day_decides() -> None:
    recalls = recall_on(0, correct=False) + recall_on(0.1) + recall_on(1) + recall_on(1.1, correct=False)

    assert count_right_days(recalls, date(2026, 3, 9), UTC) == {"q": 1}


def test_a_day_is_the_learners_own() -> None:
    """Noon and 23:00 in UTC are one day there, and two in Tokyo."""
    recalls = recall_on(0, 11 / 24)

    found = [count_right_days(recalls, date(2026, 3, 9), zone) for zone in (UTC, ZoneInfo("Asia/Tokyo"))]

    assert found == [{"q": 1}, {"q": 2}]


def test_days_that_have_not_come_do_not_count() -> None:
    assert count_right_days(recall_on(0, 1, 2, 3), date(2026, 3, 2), UTC) == {"q": 2}


def test_a_question_about_a_fault_and_a_bug_hunt_are_both_debugging() -> None:
    asked = Asked(frozenset(), frozenset({"q"}), frozenset(), frozenset({"q", "hunt"}))

    half = rungs(Done(False, frozenset(), recall_on(0), frozenset()), asked)
    whole = rungs(Done(False, frozenset(), recall_on(0), frozenset({"hunt"})), asked)

    assert (half[Rung.DEBUGGED].done, half[Rung.DEBUGGED].reached) == (1, False)
    assert whole[Rung.DEBUGGED].reached


def test_building_before_reading_is_building() -> None:
    steps = rungs(Done(False, frozenset(), (), frozenset({"engine"})))

    assert (steps[Rung.READ].reached, steps[Rung.BUILT].reached) == (False, True)
