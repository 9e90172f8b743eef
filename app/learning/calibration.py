"""Calibration: how often a learner was right, compared with how sure they said they were. Never a grade. Pure."""

import math
from collections.abc import Collection, Iterable
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
    """A prediction, or an answer in review or to a drill, with a stated confidence. `concepts` are ids.

    `times` is how often the same was guessed, where a class's guesses are counted.
    """

    confidence: Confidence
    right: bool
    concepts: tuple[str, ...] = ()
    times: int = 1


ENOUGH_GUESSES = 20
"""With fewer, only counts are shown: 80 % right of 20 may as well be 58 % or 92 %."""

Z_95 = 1.96


class Fit(StrEnum):
    """What a word was worth, compared with what it promises. `UNKNOWN`: too few to tell."""

    UNKNOWN = "unknown"
    FITS = "fits"
    OVERCONFIDENT = "overconfident"
    UNDERCONFIDENT = "underconfident"


@dataclass(frozen=True)
class Level:
    """All guesses with one confidence."""

    confidence: Confidence
    resolved: int
    right: int

    @property
    def right_percent(self) -> int:
        return round(100 * self.right / self.resolved)

    @property
    def bounds(self) -> tuple[int, int]:
        """Wilson's 95 % interval of the share that is right, in percent."""
        low, high = find_wilson_interval(self.right, self.resolved)
        return round(100 * low), round(100 * high)

    @property
    def fit(self) -> Fit:
        if self.resolved < ENOUGH_GUESSES:
            return Fit.UNKNOWN
        low, high = self.bounds
        promised = self.confidence.promised_percent
        if promised > high:
            return Fit.OVERCONFIDENT
        # There is no word above "certain" to choose.
        return Fit.UNDERCONFIDENT if promised < low and self.confidence is not Confidence.CERTAIN else Fit.FITS


def find_wilson_interval(right: int, total: int) -> tuple[float, float]:
    """Wilson's score interval for a share, at 95 % (Wilson 1927). It holds for small counts, and for all or none."""
    share, z2 = right / total, Z_95**2
    middle = (share + z2 / (2 * total)) / (1 + z2 / total)
    half = Z_95 / (1 + z2 / total) * math.sqrt(share * (1 - share) / total + z2 / (4 * total**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def calibrate(guesses: Iterable[Guess]) -> tuple[Level, ...]:
    """One level per confidence that was used, least sure first."""
    made = tuple(guesses)
    levels = (
        Level(
            confidence,
            sum(guess.times for guess in made if guess.confidence is confidence),
            sum(guess.times for guess in made if guess.confidence is confidence and guess.right),
        )
        for confidence in Confidence
    )
    return tuple(level for level in levels if level.resolved)


def calibrate_concepts(guesses: Collection[Guess]) -> dict[str, tuple[Level, ...]]:
    """The levels by concept, the concept with the most guesses first. A guess counts for each of its concepts."""
    names = dict.fromkeys(name for guess in guesses for name in guess.concepts)
    found = {name: [guess for guess in guesses if name in guess.concepts] for name in names}
    counts = {name: sum(guess.times for guess in guessed) for name, guessed in found.items()}
    return {name: calibrate(found[name]) for name in sorted(found, key=lambda name: (-counts[name], name))}


def describe_calibration(levels: tuple[Level, ...]) -> tuple[str, ...]:
    """What the learner's words were worth, and what to do about it, in sentences."""
    resolved, right = (sum(getattr(level, name) for level in levels) for name in ("resolved", "right"))
    if resolved == 0:
        return ("No prediction of yours has been settled yet.",)
    judged = [level for level in levels if level.fit is not Fit.UNKNOWN]
    if not judged:
        return (
            f"{right} of {resolved} were right. Once you have used a word {ENOUGH_GUESSES} times, "
            "this page tells you what it was worth.",
        )
    return tuple(_advise(level) for level in judged)


def _advise(level: Level) -> str:
    word, promised = level.confidence.label.lower(), level.confidence.promised_percent
    low, high = level.bounds
    worth = f"When you say “{word}”, you are right {level.right_percent} % of the time ({low} to {high} %)"
    match level.fit:
        case Fit.OVERCONFIDENT:
            weaker = "say “I don’t know”" if level.confidence is Confidence.GUESS else "choose the weaker word"
            return (
                f"{worth}, less than the {promised} % that the word promises. Before you commit, name the line or "
                f"rule that makes it so; if you cannot, {weaker}."
            )
        case Fit.UNDERCONFIDENT:
            return (
                f"{worth}, more than the {promised} % that the word promises. You know more than you think: once you "
                "can name the reason, choose the stronger word."
            )
        case _:
            return f"{worth}, which fits the {promised} % that the word promises."


def count_worth(levels: tuple[Level, ...]) -> str:
    """The counts in one line: "a guess 2 of 5 right, certain 7 of 9"; empty without any."""
    parts = [f"{level.confidence.label.lower()} {level.right} of {level.resolved}" for level in levels]
    return ", ".join(f"{part} right" if place == 0 else part for place, part in enumerate(parts))
