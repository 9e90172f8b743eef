"""Item statistics: values computed by hand, thresholds below which nothing is said, and simulated classes."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.learning.calibration import Confidence
from app.learning.items import (
    ENOUGH_FOR_DISCRIMINATION,
    ENOUGH_FOR_SHARE,
    ENOUGH_FOR_THIRDS,
    FirstAnswer,
    ItemStatistics,
    correlate,
    find_brier,
    find_statistics,
)

ITEMS = [f"item-{number}" for number in range(12)]


def simulate(seed: int, size: int, miskeyed: frozenset[str] = frozenset()) -> list[FirstAnswer]:
    """First answers of a class of varied ability to twelve items of varied difficulty; three in ten are missing.

    An item of `miskeyed` calls a right answer wrong, and takes one of three wrong ones for right.
    """
    draw = random.Random(seed)
    difficulty = {item: draw.uniform(-1.5, 1.0) for item in ITEMS}
    answers = []
    for person in range(size):
        ability = draw.gauss(0, 1)
        for item in ITEMS:
            if draw.random() < 0.3:
                continue
            knows = draw.random() < 1 / (1 + math.exp(-1.7 * (ability - difficulty[item])))
            right = (not knows and draw.random() < 1 / 3) if item in miskeyed else knows
            answers.append(FirstAnswer(f"p{person}", item, right))
    return answers


def statistics_of(answers: list[FirstAnswer]) -> dict[str, ItemStatistics]:
    return find_statistics(answers, dict.fromkeys(ITEMS, ()), {})


def one_item(rights: int, wrongs: int) -> ItemStatistics:
    answers = [FirstAnswer(f"p{n}", "item-0", n < rights) for n in range(rights + wrongs)]
    return statistics_of(answers)["item-0"]


def test_r_and_its_bounds_are_those_computed_by_hand() -> None:
    found = correlate([1, 2, 3, 4, 5], [2, 1, 4, 3, 5])

    assert found
    assert found.value == pytest.approx(0.8)
    assert (found.low, found.high) == pytest.approx((-0.279, 0.986), abs=1e-3)


@pytest.mark.parametrize(("xs", "ys"), [([1, 1, 1, 1], [1, 2, 3, 4]), ([1, 2, 3], [1, 2, 3])])
def test_what_does_not_vary_or_is_too_little_has_no_r(xs: list[float], ys: list[float]) -> None:
    assert correlate(xs, ys) is None


def test_a_perfect_line_has_an_r_of_one() -> None:
    assert correlate([1, 2, 3, 4], [2, 4, 6, 8]) == (1.0, 1.0, 1.0)


def test_a_share_is_said_from_enough_answers_on() -> None:
    assert one_item(15, ENOUGH_FOR_SHARE - 16).share is None
    enough = one_item(16, ENOUGH_FOR_SHARE - 16)

    assert enough.share
    assert enough.share.value == 0.8
    assert (round(100 * enough.share.low), round(100 * enough.share.high)) == (58, 92)


def test_the_item_itself_is_not_in_its_rest_score() -> None:
    """Everybody is right in all other items, so nothing varies but the item: no correlation with itself."""
    answers = [FirstAnswer(f"p{n}", item, item != "item-0" or n % 2 == 0) for n in range(80) for item in ITEMS]
    found = statistics_of(answers)["item-0"]

    assert found.mean_rest == 1.0
    assert found.discrimination is None


def test_who_answered_few_other_items_has_no_rest_score() -> None:
    answers = [FirstAnswer(f"p{n}", item, n % 3 > 0) for n in range(80) for item in ITEMS[:5]]
    found = statistics_of(answers)["item-0"]

    assert (found.answered, found.mean_rest, found.discrimination) == (80, None, None)


def test_a_discrimination_is_said_from_enough_answers_on() -> None:
    few = statistics_of([one for one in simulate(1, 60) if int(one.person[1:]) < ENOUGH_FOR_DISCRIMINATION - 1])
    many = statistics_of(simulate(1, 200))

    assert all(one.discrimination is None for one in few.values())
    assert all(one.discrimination is not None for one in many.values())


def test_thirds_show_who_chose_what_and_options_that_nobody_chooses_are_idle() -> None:
    answers = []
    for person in range(ENOUGH_FOR_THIRDS):
        third = person // (ENOUGH_FOR_THIRDS // 3)
        answers += [FirstAnswer(f"p{person:02}", item, n < 3 * third + 2) for n, item in enumerate(ITEMS[1:])]
        answers.append(FirstAnswer(f"p{person:02}", "item-0", third == 2, "key" if third == 2 else "near"))
    found = find_statistics(
        answers, {"item-0": ("key", "near", "never"), **dict.fromkeys(ITEMS[1:], ())}, {"item-0": {"key"}}
    )["item-0"]

    assert found.options == {"key": 20, "near": 40, "never": 0}
    assert found.thirds["key"] == (0.0, 0.0, 1.0)
    assert found.thirds["near"] == (1.0, 1.0, 0.0)
    assert found.idle == ("never",)


def test_a_brier_score_is_the_one_computed_by_hand() -> None:
    found = find_brier([(Confidence.CERTAIN, True), (Confidence.CERTAIN, False)])

    assert found
    assert found.score == pytest.approx((0.05**2 + 0.95**2) / 2)
    assert found == pytest.approx((found.score, 0.45**2, 0.0, 0.25))
    assert find_brier([]) is None


@given(st.lists(st.tuples(st.sampled_from(Confidence), st.booleans()), min_size=1))
def test_the_parts_of_a_brier_score_add_up(guesses: list[tuple[Confidence, bool]]) -> None:
    found = find_brier(guesses)

    assert found
    assert found.score == pytest.approx(found.reliability - found.resolution + found.uncertainty)


def test_two_planted_wrong_keys_are_found_and_no_good_item() -> None:
    planted = frozenset({"item-3", "item-8"})
    found = statistics_of(simulate(7, 200, planted))

    assert {name for name, one in found.items() if one.perhaps_wrong_key} == planted


@pytest.mark.nightly
def test_few_good_items_are_flagged_and_most_wrong_keys_found_in_many_classes() -> None:
    planted = frozenset({"item-3", "item-8"})
    classes = [statistics_of(simulate(seed, 150, planted)) for seed in range(200)]
    hits = sum(found[name].perhaps_wrong_key for found in classes for name in planted)
    false_alarms = sum(
        one.perhaps_wrong_key for found in classes for name, one in found.items() if name not in planted
    )

    assert hits / (200 * 2) > 0.9
    assert false_alarms / (200 * 10) < 0.03
