"""Calibration: how often a learner's predictions were right, compared with their stated confidence."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never


class Confidence(StrEnum):
    """The stated confidence of a prediction. Forms send the value and the database stores it."""

    GUESS = "guess"
    FAIRLY_SURE = "fairly-sure"
    CERTAIN = "certain"

    @property
    def label(self) -> str:
        return {"guess": "A guess", "fairly-sure": "Fairly sure", "certain": "Certain"}[self.value]

    @property
    def promised_percent(self) -> int:
        """The percentage of predictions with this confidence that should be right."""
        match self:
            case Confidence.GUESS:
                return 50
            case Confidence.FAIRLY_SURE:
                return 75
            case Confidence.CERTAIN:
                return 95
            case _:
                assert_never(self)


@dataclass(frozen=True)
class Guess:
    """A prediction whose right answer is known."""

    confidence: Confidence
    right: bool


@dataclass(frozen=True)
class Level:
    """All resolved predictions with one confidence."""

    confidence: Confidence
    resolved: int
    right: int

    @property
    def right_percent(self) -> int:
        return round(100 * self.right / self.resolved)


ENOUGH_GUESSES = 5
"""With fewer predictions than this, a difference means nothing."""

CLOSE_PERCENT = 10


def calibrate(guesses: Iterable[Guess]) -> tuple[Level, ...]:
    """One level per confidence that was used, least sure first."""
    made = tuple(guesses)
    levels = (
        Level(
            confidence,
            sum(guess.confidence is confidence for guess in made),
            sum(guess.confidence is confidence and guess.right for guess in made),
        )
        for confidence in Confidence
    )
    return tuple(level for level in levels if level.resolved)


def describe_calibration(levels: tuple[Level, ...]) -> str:
    """One sentence about over- or underconfidence, or about why it cannot be judged yet."""
    resolved = sum(level.resolved for level in levels)
    if resolved == 0:
        return "No prediction of yours has been settled yet."
    if resolved < ENOUGH_GUESSES:
        return f"{resolved} of your predictions settled so far: too few to say how well you know what you know."
    promised = sum(level.resolved * level.confidence.promised_percent for level in levels) / resolved
    held = 100 * sum(level.right for level in levels) / resolved
    if abs(promised - held) <= CLOSE_PERCENT:
        return "Well calibrated: your predictions hold about as often as you expect them to."
    if promised > held:
        return "Overconfident so far: your predictions hold less often than you expect them to."
    return "Underconfident so far: your predictions hold more often than you expect them to."
