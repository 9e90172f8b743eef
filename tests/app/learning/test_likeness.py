"""Likeness: renaming and reordering hide nothing, what everybody was given counts for nothing."""

import tomllib
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from disguises import disguise, rename

from app.learning.likeness import (
    COMMON_FROM,
    MAX_KINDS,
    Comparison,
    Pair,
    Unreadable,
    compare,
    find_groups,
    find_shared_lines,
    make_print,
)

EXERCISES = Path(__file__).resolve().parents[3] / "exercises"

STARTER = """
import numpy as np

def scale(values, factor):
    raise NotImplementedError
"""
LOOPS = '''
import numpy as np

def scale(values, factor):
    """Multiply one by one."""
    found = []
    for value in values:
        if value > 0:
            found.append(value * factor)
        else:
            found.append(value - factor)
    return np.array(found)
'''
SELECTS = """
import numpy as np

def scale(values, factor):
    raised = np.asarray(values)
    return np.where(raised > 0, raised * factor, raised - factor).reshape(-1)
"""


def compare_sources(sources: dict[str, str], starter: str = STARTER, **others: str) -> Comparison:
    prints = {name: make_print(source) for name, source in sources.items()}
    return compare(prints, make_print(starter), {name: make_print(source) for name, source in others.items()})


def test_a_renamed_copy_is_wholly_alike_and_comes_before_another_answer() -> None:
    found = compare_sources({"ada": LOOPS, "bob": SELECTS, "cyd": rename(LOOPS)})

    assert found.pairs[0] == Pair("ada", "cyd", 1.0)
    assert found.pairs[1].likeness < 0.5


def test_two_spellings_of_an_import_are_the_same() -> None:
    other = LOOPS.replace("import numpy as np", "import numpy as n").replace("np.", "n.")

    assert make_print(other).grams == make_print(LOOPS).grams


def test_comments_docstrings_annotations_and_augmented_assignment_change_nothing() -> None:
    plain = "def f(x):\n    x = x + 1\n    return x\n"
    other = 'def f(x: int) -> int:\n    "Adds."\n    x += 1  # one\n    pass\n    return x\n'

    assert make_print(plain).grams == make_print(other).grams


def test_what_the_starter_gives_is_nobody_s_own() -> None:
    found = compare_sources({"ada": LOOPS, "bob": rename(LOOPS)}, starter=LOOPS)

    assert found.pairs == ()
    assert found.too_little == ("ada", "bob")


def test_what_most_of_a_class_has_counts_as_given() -> None:
    everybody = {f"learner {number}": LOOPS for number in range(COMMON_FROM - 1)}

    assert len(compare_sources(everybody).pairs) == (COMMON_FROM - 1) * (COMMON_FROM - 2) / 2
    assert len(compare_sources({**everybody, "one more": SELECTS}).too_little) == COMMON_FROM - 1


def test_the_reference_is_one_more_author_and_never_a_pair_of_its_own() -> None:
    found = compare_sources({"ada": LOOPS}, reference=rename(LOOPS), another=LOOPS)

    assert [(pair.left, pair.right) for pair in found.pairs] == [("ada", "another"), ("ada", "reference")]


def test_a_likeness_is_the_same_both_ways() -> None:
    one = compare_sources({"a": LOOPS + SELECTS, "b": SELECTS}).pairs[0]
    other = compare_sources({"a": SELECTS, "b": LOOPS + SELECTS}).pairs[0]

    assert one.likeness == other.likeness
    assert 0.5 < one.likeness < 1


def test_the_shared_lines_are_those_of_the_shared_part() -> None:
    long, short = make_print(LOOPS + SELECTS), make_print(SELECTS)
    loops = LOOPS.splitlines().index("    found = []") + 1
    selects = len(LOOPS.splitlines()) + SELECTS.splitlines().index("    raised = np.asarray(values)") + 1

    shared = find_shared_lines(long, short, make_print(STARTER).grams)

    assert {selects, selects + 1} <= shared
    assert not {loops + 1, loops + 2, loops + 3} & shared


def test_three_of_whom_every_two_are_listed_are_a_group() -> None:
    listed = [Pair("a", "b", 0.9), Pair("c", "d", 0.8), Pair("b", "e", 0.7), Pair("a", "e", 0.6), Pair("e", "c", 0.5)]

    assert find_groups(listed) == (("a", "b", "e"),)


@pytest.mark.parametrize("source", ["def f(:", "x = '\0'", "-" * 9000 + "1", f"x = [{'1,' * MAX_KINDS}]"])
def test_what_is_no_program_or_too_long_is_refused(source: str) -> None:
    with pytest.raises(Unreadable):
        make_print(source)


def test_an_odd_escape_warns_nobody() -> None:
    assert make_print(r"print('\d', 1, 2, 3)").grams


def read_answers() -> Iterator[tuple[str, list[str], list[str]]]:
    """For each exercise: the starter, all known answers, and those that pass without cheating."""
    for folder in sorted(path for path in EXERCISES.iterdir() if path.is_dir()):
        listed = tomllib.loads((folder / "exercise.toml").read_text(encoding="utf-8"))["attempts"]
        texts = {one["file"]: (folder / "attempts" / one["file"]).read_text(encoding="utf-8") for one in listed}
        solution = (folder / "solution.py").read_text(encoding="utf-8")
        passing = [texts[one["file"]] for one in listed if one["outcome"] == "passed" and not one.get("cheat")]
        yield (folder / "starter.py").read_text(encoding="utf-8"), [solution, *texts.values()], [solution, *passing]


def rate(starter: str, left: str, right: str) -> list[float]:
    """The likeness of two programs; nothing if either cannot be compared."""
    try:
        found = compare_sources({"left": left, "right": right}, starter)
    except Unreadable:
        return []
    return [] if found.too_little else [found.pairs[0].likeness if found.pairs else 0.0]


def parses(source: str) -> bool:
    try:
        make_print(source)
    except Unreadable:
        return False
    return True


def share_of_pairs_in_order(copies: list[float], different: list[float]) -> float:
    """How often a copy is more alike than two different answers (the area under the ROC curve)."""
    won = sum((copy > other) + (copy == other) / 2 for copy in copies for other in different)
    return won / (len(copies) * len(different))


@pytest.mark.nightly
def test_disguised_copies_come_before_different_answers() -> None:
    """On all answers in the repository: 1.000 for renamed copies, 0.981 for heavy disguises when this was built."""
    renamed, disguised, different = [], [], []
    for starter, answers, passing in read_answers():
        for answer in filter(parses, answers):
            renamed += rate(starter, answer, rename(answer))
            disguised += rate(starter, answer, disguise(answer))
        for one, other in combinations(passing, 2):
            different += rate(starter, one, other)

    assert (len(renamed) > 400, len(different) > 150) == (True, True)
    assert share_of_pairs_in_order(renamed, different) > 0.995
    assert share_of_pairs_in_order(disguised, different) > 0.96
