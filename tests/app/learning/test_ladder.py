"""The maturity ladder of a chapter, from what its reader did."""

from datetime import UTC, datetime, timedelta

from app.learning.ladder import Asked, Done, Recall, Rung, Step, climb_ladder

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
        (Rung.REMEMBERED, 0, 4),
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


def test_four_times_on_one_day_is_one_day() -> None:
    step = rungs(Done(False, frozenset(), recall_on(0, 0.1, 0.2, 0.3), frozenset()), now=NOON + timedelta(days=1))

    assert step[Rung.REMEMBERED].done == 1


def test_four_separate_days_are_retained_and_a_fifth_adds_nothing() -> None:
    done = Done(False, frozenset(), recall_on(0, 1, 5, 9, 20), frozenset())

    step = rungs(done, now=NOON + timedelta(days=20))[Rung.REMEMBERED]

    assert (step.done, step.total, step.reached) == (4, 4, True)


def test_days_that_have_not_come_do_not_count() -> None:
    step = rungs(Done(False, frozenset(), recall_on(0, 1, 2, 3), frozenset()), now=NOON + timedelta(days=1))

    assert step[Rung.REMEMBERED].done == 2


def test_a_question_about_a_fault_and_a_bug_hunt_are_both_debugging() -> None:
    asked = Asked(frozenset(), frozenset({"q"}), frozenset(), frozenset({"q", "hunt"}))

    half = rungs(Done(False, frozenset(), recall_on(0), frozenset()), asked)
    whole = rungs(Done(False, frozenset(), recall_on(0), frozenset({"hunt"})), asked)

    assert (half[Rung.DEBUGGED].done, half[Rung.DEBUGGED].reached) == (1, False)
    assert whole[Rung.DEBUGGED].reached


def test_building_before_reading_is_building() -> None:
    steps = rungs(Done(False, frozenset(), (), frozenset({"engine"})))

    assert (steps[Rung.READ].reached, steps[Rung.BUILT].reached) == (False, True)
