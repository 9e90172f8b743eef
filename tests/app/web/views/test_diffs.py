"""Comparing two texts costs little, whatever stands in them: a learner chooses both."""

import time

import pytest
from hypothesis import given
from hypothesis.strategies import lists, sampled_from

from app.web.views.changed_lines import mark_words
from app.web.views.diffs import MAX_ROWS, compare_briefly, compare_whole
from graders.contract.limits import MAX_SOURCE_BYTES

HOSTILE = {
    "two lines in turn": ("a\nb\n" * (MAX_SOURCE_BYTES // 4), "b\na\na\n" * (MAX_SOURCE_BYTES // 6)),
    "empty lines": ("\n" * MAX_SOURCE_BYTES, "x\n" + "\n" * (MAX_SOURCE_BYTES - 2)),
    "lines that are nearly alike": tuple(
        "".join(f"{'w ' * 25}{place} {word}\n" for place in range(990)) for word in ("left", "right")
    ),
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


def test_lines_that_are_alike_share_a_row_with_their_differing_words_marked():
    rows = compare_whole("g = x * y\nreturn g\n", "total = 0\ng = x + y\nreturn g.sum()\n").rows

    assert [(row.kind, row.left_number, row.right_number) for row in rows] == [
        ("added", None, 1),
        ("changed", 1, 2),
        ("changed", 2, 3),
    ]
    assert rows[1].left_parts == (("g = x ", False), ("*", True), (" y", False))
    assert rows[1].right_parts == (("g = x ", False), ("+", True), (" y", False))
    assert rows[2].right_parts == (("return g", False), (".sum()", True))


@given(
    lists(sampled_from(["a = 1", "a = 2", "b = a + 1", "return b", ""])), lists(sampled_from(["a = 1", "b = a", ""]))
)
def test_every_line_of_both_sides_is_in_one_row_and_in_its_order(left, right):
    rows = compare_whole("\n".join([*left, "end"]), "\n".join([*right, "end"])).rows

    assert [row.left for row in rows if row.left_number] == [*left, "end"]
    assert [row.right for row in rows if row.right_number] == [*right, "end"]
    for row in rows:
        assert "".join(text for text, _ in row.left_parts) in ("", row.left)
        assert "".join(text for text, _ in row.right_parts) in ("", row.right)


def test_words_of_lines_with_little_in_common_are_not_marked():
    assert mark_words("loss.backward()", "for p in model.parameters():") == ((), ())
    assert mark_words("a b", "x y")[0] == ()
    assert mark_words("f(a b c)", "f(x y c)")[1] == (("f(", False), ("x y", True), (" c)", False))


@pytest.mark.parametrize("compare", [compare_briefly, compare_whole])
def test_a_comparison_shows_so_many_rows_and_counts_the_lines_of_all(compare):
    compared = compare("\n" * (MAX_ROWS + 7), "x\n")

    assert (len(compared.rows), compared.rows_left_out) == (MAX_ROWS, 7)
    assert (compared.removed, compared.added) == (MAX_ROWS + 7, 1)


@pytest.mark.parametrize("compare", [compare_briefly, compare_whole])
def test_a_comparison_with_just_so_many_rows_leaves_none_out(compare):
    compared = compare("\n" * MAX_ROWS, "x\n")

    assert (len(compared.rows), compared.rows_left_out) == (MAX_ROWS, 0)
