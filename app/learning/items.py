"""Item statistics: what the first answers of a class say about a chapter's questions. Pure.

Only first answers count, because nearly everybody is right in the end. An item is compared with the *rest score*: the
share of right first answers among the other items of the chapter that the learner answered. A total with the item in
it would correlate with itself. (Lord and Novick, Statistical Theories of Mental Test Scores, 1968, 15.2.)
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from app.learning.calibration import Z_95, Confidence, find_wilson_interval

ENOUGH_FOR_SHARE = 20
"""With fewer, only counts are shown: 80 % right of 20 may as well be 58 % or 92 %."""

ENOUGH_FOR_DISCRIMINATION = 50
ENOUGH_FOR_THIRDS = 60

OTHER_ITEMS = 5
"""A rest score needs at least so many other items."""

WRONG_KEY_BELOW = 0.2
"""If the upper bound of the discrimination is lower, the key is perhaps wrong. In simulated classes this finds 76 %
of miskeyed items at 50 answers and 94 % at 75, and flags 1 % of the good ones."""

IDLE_SHARE = 0.05
"""A wrong option that fewer choose misleads nobody."""


class FirstAnswer(NamedTuple):
    """One person's first answer to an item. `option` is what they chose, if the item has options."""

    person: str
    item: str
    right: bool
    option: str = ""


class Interval(NamedTuple):
    """An estimate with its 95 % bounds."""

    value: float
    low: float
    high: float


class Thirds(NamedTuple):
    """The share that chose an option in the lowest, middle and highest third of the rest scores; each from 0 to 1."""

    low: float
    middle: float
    high: float


@dataclass(frozen=True)
class ItemStatistics:
    """What the class's first answers say about one item. None: too few answers to say it.

    `mean_rest` is the mean rest score of those who answered: an item that only the abler half reached looks easier
    than it is. `idle` names wrong options that hardly anybody chose.
    """

    item: str
    answered: int
    right: int
    mean_rest: float | None
    share: Interval | None
    discrimination: Interval | None
    options: Mapping[str, int]
    thirds: Mapping[str, Thirds]
    idle: tuple[str, ...]

    @property
    def perhaps_wrong_key(self) -> bool:
        return self.discrimination is not None and self.discrimination.high < WRONG_KEY_BELOW


def find_statistics(
    answers: Collection[FirstAnswer], options: Mapping[str, Sequence[str]], keys: Mapping[str, Collection[str]]
) -> dict[str, ItemStatistics]:
    """Statistics of the items of one chapter, in the order of `options`, which has the options of each item, if any.

    `keys` are the right options. Answers to other items are left out.
    """
    by_item: dict[str, list[FirstAnswer]] = {item: [] for item in options}
    rights: dict[str, int] = Counter()
    totals: dict[str, int] = Counter()
    for one in answers:
        if one.item in by_item:
            by_item[one.item].append(one)
            rights[one.person] += one.right
            totals[one.person] += 1
    return {
        item: _find_one(item, given, _find_rests(given, rights, totals), options[item], keys.get(item, ()))
        for item, given in by_item.items()
    }


def _find_rests(
    given: Iterable[FirstAnswer], rights: Mapping[str, int], totals: Mapping[str, int]
) -> list[tuple[float, FirstAnswer]]:
    """The answers of those who have a rest score, each with it."""
    found = []
    for one in given:
        others = totals[one.person] - 1
        if others >= OTHER_ITEMS:
            found.append(((rights[one.person] - one.right) / others, one))
    return found


def _find_one(
    item: str,
    given: Sequence[FirstAnswer],
    rests: Sequence[tuple[float, FirstAnswer]],
    options: Sequence[str],
    key: Collection[str],
) -> ItemStatistics:
    answered, right = len(given), sum(one.right for one in given)
    chosen = Counter(one.option for one in given)
    counts = {option: chosen[option] for option in options}
    seldom = IDLE_SHARE * answered
    idle = [option for option in options if option not in key and counts[option] < seldom]
    return ItemStatistics(
        item=item,
        answered=answered,
        right=right,
        mean_rest=sum(rest for rest, _ in rests) / len(rests) if rests else None,
        share=_find_share(right, answered) if answered >= ENOUGH_FOR_SHARE else None,
        discrimination=correlate([rest for rest, _ in rests], [one.right for _, one in rests])
        if len(rests) >= ENOUGH_FOR_DISCRIMINATION
        else None,
        options=counts,
        thirds=_find_thirds(rests, options) if len(rests) >= ENOUGH_FOR_THIRDS else {},
        idle=tuple(idle) if answered >= ENOUGH_FOR_DISCRIMINATION else (),
    )


def _find_share(right: int, answered: int) -> Interval:
    return Interval(right / answered, *find_wilson_interval(right, answered))


def correlate(xs: Sequence[float], ys: Sequence[float]) -> Interval | None:
    """Pearson's r with the bounds of Fisher's z: tanh(atanh(r) ± 1.96 / sqrt(n - 3)) (Fisher 1921).

    None where one of the two does not vary, or with fewer than four pairs.
    """
    count = len(xs)
    if count < 4:
        return None
    mean_x, mean_y = sum(xs) / count, sum(ys) / count
    across = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    spread = math.sqrt(sum((x - mean_x) ** 2 for x in xs) * sum((y - mean_y) ** 2 for y in ys))
    if spread < 1e-12:
        return None
    r = max(-1.0, min(1.0, across / spread))
    if abs(r) > 1 - 1e-12:
        return Interval(r, r, r)
    width = Z_95 / math.sqrt(count - 3)
    return Interval(r, math.tanh(math.atanh(r) - width), math.tanh(math.atanh(r) + width))


def _find_thirds(rests: Sequence[tuple[float, FirstAnswer]], options: Sequence[str]) -> dict[str, Thirds]:
    ordered = sorted(rests, key=lambda pair: (pair[0], pair[1].person))
    size = len(ordered) / 3
    parts = [ordered[round(third * size) : round((third + 1) * size)] for third in range(3)]
    counts = [Counter(one.option for _, one in part) for part in parts]
    return {
        option: Thirds(*(count[option] / len(part) for count, part in zip(counts, parts, strict=True)))
        for option in options
    }


class Brier(NamedTuple):
    """The mean squared difference between what confidence promised and what held: the smaller, the better.

    score = reliability - resolution + uncertainty (Murphy 1973). `reliability` is how far the words are from what
    they promise, `resolution` how well they tell right from wrong, `uncertainty` what no words can change.
    """

    score: float
    reliability: float
    resolution: float
    uncertainty: float


def find_brier(guesses: Iterable[tuple[Confidence, bool]]) -> Brier | None:
    """The Brier score of stated confidences and its parts. None without any."""
    outcomes: dict[Confidence, list[bool]] = defaultdict(list)
    for confidence, right in guesses:
        outcomes[confidence].append(right)
    count = sum(map(len, outcomes.values()))
    if count == 0:
        return None
    overall = sum(map(sum, outcomes.values())) / count
    score = reliability = resolution = 0.0
    for confidence, rights in outcomes.items():
        promised, held = confidence.promised_percent / 100, sum(rights) / len(rights)
        score += sum((promised - right) ** 2 for right in rights) / count
        reliability += len(rights) * (promised - held) ** 2 / count
        resolution += len(rights) * (held - overall) ** 2 / count
    return Brier(score, reliability, resolution, overall * (1 - overall))
