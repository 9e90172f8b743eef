"""Comparing two texts costs little, whatever stands in them: a learner chooses both."""

import time

import pytest

from app.web.views.diffs import MAX_ROWS, compare_briefly, compare_whole
from graders.contract.limits import MAX_SOURCE_BYTES

HOSTILE = {
    "two lines in turn": ("a\nb\n" * (MAX_SOURCE_BYTES // 4), "b\na\na\n" * (MAX_SOURCE_BYTES // 6)),
    "empty lines": ("\n" * MAX_SOURCE_BYTES, "x\n" + "\n" * (MAX_SOURCE_BYTES - 2)),
    "every line a few times": tuple(
        "".join(f"{place * step % 997}\n" for place in range(MAX_SOURCE_BYTES // 5)) for step in (7, 13)
    ),
}


@pytest.mark.parametrize(("left", "right"), HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("compare", [compare_briefly, compare_whole])
def test_hostile_texts_are_compared_in_a_moment(compare, left, right):
    began = time.process_time()

    compared = compare(left, right)

    assert compared.rows
    assert time.process_time() - began < 10


def test_what_costs_too_much_to_match_keeps_its_equal_ends():
    middle = "a\nb\n" * 500
    rows = compare_whole(f"first\n{middle}last\n", f"first\nnew\n{middle.replace('a', 'c')}last\n").rows

    same = [(row.left, row.right) for row in rows if row.kind == "same"]
    assert same[0] == ("first", "first")
    assert same[-2:] == [("b", "b"), ("last", "last")]
    assert rows[-1].left_number == 1002
    assert rows[-1].right_number == 1003


def test_an_ordinary_change_is_found_between_equal_lines():
    left = "".join(f"line {number}\n" for number in range(40))
    rows = compare_whole(left, left.replace("line 20\n", "another\nand one more\n")).rows

    assert [(row.kind, row.left, row.right) for row in rows if row.kind != "same"] == [
        ("changed", "line 20", "another"),
        ("added", "", "and one more"),
    ]


@pytest.mark.parametrize("compare", [compare_briefly, compare_whole])
def test_a_comparison_shows_so_many_rows_and_counts_the_lines_of_all(compare):
    compared = compare("\n" * (MAX_ROWS + 7), "x\n")

    assert (len(compared.rows), compared.rows_left_out) == (MAX_ROWS, 7)
    assert (compared.removed, compared.added) == (MAX_ROWS + 7, 1)


@pytest.mark.parametrize("compare", [compare_briefly, compare_whole])
def test_a_comparison_with_just_so_many_rows_leaves_none_out(compare):
    compared = compare("\n" * MAX_ROWS, "x\n")

    assert (len(compared.rows), compared.rows_left_out) == (MAX_ROWS, 0)
