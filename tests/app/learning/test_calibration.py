"""Calibration: confidence against truth."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.learning.calibration import (
    Confidence,
    Fit,
    Guess,
    Level,
    calibrate,
    calibrate_concepts,
    count_worth,
    describe_calibration,
    find_wilson_interval,
)

GUESSES = st.lists(st.builds(Guess, st.sampled_from(Confidence), st.booleans()))


def made(confidence: Confidence, right: int, wrong: int) -> list[Guess]:
    return [Guess(confidence, True)] * right + [Guess(confidence, False)] * wrong


def test_levels_come_least_sure_first_and_unused_ones_not_at_all() -> None:
    levels = calibrate(made(Confidence.CERTAIN, 3, 1) + made(Confidence.GUESS, 1, 1))

    assert levels == (Level(Confidence.GUESS, 2, 1), Level(Confidence.CERTAIN, 4, 3))
    assert levels[1].right_percent == 75


def test_nothing_settled_is_said_in_words() -> None:
    (words,) = describe_calibration(())

    assert words == "No prediction of yours has been settled yet."


def test_below_twenty_there_are_only_counts() -> None:
    (words,) = describe_calibration(calibrate(made(Confidence.CERTAIN, 0, 19)))

    assert words.startswith("0 of 19 were right.")
    assert "%" not in words


def test_certain_and_wrong_half_the_time_is_overconfident_and_told_what_to_do() -> None:
    (words,) = describe_calibration(calibrate(made(Confidence.CERTAIN, 10, 10)))

    assert words.startswith("When you say “certain”, you are right 50 % of the time (30 to 70 %), less than the 95 %")
    assert "choose the weaker word" in words


def test_below_a_guess_is_i_do_not_know() -> None:
    (words,) = describe_calibration(calibrate(made(Confidence.GUESS, 2, 38)))

    assert words.endswith("if you cannot, say “I don’t know”.")


def test_guesses_that_always_hold_are_underconfident() -> None:
    (words,) = describe_calibration(calibrate(made(Confidence.GUESS, 20, 0)))

    assert "more than the 50 %" in words
    assert "choose the stronger word" in words


def test_three_of_four_fairly_sure_fits_and_nothing_is_above_certain() -> None:
    fair = calibrate(made(Confidence.FAIRLY_SURE, 15, 5))
    sure = calibrate(made(Confidence.CERTAIN, 400, 0))

    assert [level.fit for level in (*fair, *sure)] == [Fit.FITS, Fit.FITS]
    assert "fits the 75 %" in describe_calibration(fair)[0]


@pytest.mark.parametrize(("right", "total"), [(0, 20), (16, 20), (80, 100), (20, 20), (3, 7)])
def test_wilsons_interval_holds_the_shares_that_its_test_does_not_refuse(right: int, total: int) -> None:
    """The definition, solved by search: the shares p with |right/n - p| <= 1.96 standard errors under p."""
    held = [
        p / 10_000
        for p in range(10_001)
        if abs(right / total - p / 10_000) <= 1.96 * (p / 10_000 * (1 - p / 10_000) / total) ** 0.5 + 1e-12
    ]

    low, high = find_wilson_interval(right, total)

    assert (low, high) == pytest.approx((held[0], held[-1]), abs=2e-4)


def test_a_guess_counts_for_each_of_its_concepts_and_the_commonest_comes_first() -> None:
    both = Guess(Confidence.CERTAIN, True, ("leaves", "detach"))
    one = Guess(Confidence.GUESS, False, ("detach",))

    found = calibrate_concepts([both, one])

    assert list(found.items()) == [
        ("detach", (Level(Confidence.GUESS, 1, 0), Level(Confidence.CERTAIN, 1, 1))),
        ("leaves", (Level(Confidence.CERTAIN, 1, 1),)),
    ]


def test_counts_make_one_line() -> None:
    levels = calibrate(made(Confidence.GUESS, 2, 3) + made(Confidence.CERTAIN, 7, 2))

    assert count_worth(levels) == "a guess 2 of 5 right, certain 7 of 9"


@given(GUESSES)
def test_every_guess_is_counted_in_exactly_one_level(guesses: list[Guess]) -> None:
    levels = calibrate(guesses)

    assert sum(level.resolved for level in levels) == len(guesses)
    assert sum(level.right for level in levels) == sum(guess.right for guess in guesses)
    assert all(words.endswith(".") for words in describe_calibration(levels))


def test_guesses_that_are_counted_are_worth_as_much_as_each_by_itself() -> None:
    """The concept with the most guesses comes first, however few rows they are."""
    counted = [
        Guess(Confidence.CERTAIN, True, ("leaves",), times=2),
        Guess(Confidence.CERTAIN, False, ("detach",), times=30),
        Guess(Confidence.GUESS, True, ("leaves",)),
    ]
    single = [Guess(one.confidence, one.right, one.concepts) for one in counted for _ in range(one.times)]

    assert calibrate(counted) == calibrate(single)
    assert list(calibrate_concepts(counted).items()) == list(calibrate_concepts(single).items())
    assert list(calibrate_concepts(counted)) == ["detach", "leaves"]
