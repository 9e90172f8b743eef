"""Calibration: confidence against truth."""

from hypothesis import given
from hypothesis import strategies as st

from app.learning.calibration import Confidence, Guess, Level, calibrate, describe_calibration

GUESSES = st.lists(st.builds(Guess, st.sampled_from(Confidence), st.booleans()))


def made(confidence: Confidence, right: int, wrong: int) -> list[Guess]:
    return [Guess(confidence, True)] * right + [Guess(confidence, False)] * wrong


def test_levels_come_least_sure_first_and_unused_ones_not_at_all() -> None:
    levels = calibrate(made(Confidence.CERTAIN, 3, 1) + made(Confidence.GUESS, 1, 1))

    assert levels == (Level(Confidence.GUESS, 2, 1), Level(Confidence.CERTAIN, 4, 3))
    assert levels[1].right_percent == 75


def test_nothing_settled_is_said_in_words() -> None:
    assert describe_calibration(()) == "No prediction of yours has been settled yet."


def test_a_few_predictions_judge_nobody() -> None:
    assert "too few" in describe_calibration(calibrate(made(Confidence.CERTAIN, 0, 4)))


def test_certain_and_wrong_half_the_time_is_overconfident() -> None:
    assert describe_calibration(calibrate(made(Confidence.CERTAIN, 5, 5))).startswith("Overconfident")


def test_guesses_that_always_hold_are_underconfident() -> None:
    assert describe_calibration(calibrate(made(Confidence.GUESS, 8, 0))).startswith("Underconfident")


def test_three_of_four_fairly_sure_is_well_calibrated() -> None:
    assert describe_calibration(calibrate(made(Confidence.FAIRLY_SURE, 6, 2))).startswith("Well calibrated")


@given(GUESSES)
def test_every_guess_is_counted_in_exactly_one_level(guesses: list[Guess]) -> None:
    levels = calibrate(guesses)

    assert sum(level.resolved for level in levels) == len(guesses)
    assert sum(level.right for level in levels) == sum(guess.right for guess in guesses)
    assert describe_calibration(levels).endswith(".")
