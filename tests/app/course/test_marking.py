"""Marking answers: each kind of question, right, wrong, and unusable."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.course.blocks import GraphKey, Kind, NumberKey, Option, Question, Role, Where
from app.course.marking import (
    MISSING,
    Given,
    Mark,
    Unmarkable,
    code_lines,
    line_letter,
    mark_answer,
    read_number,
    shown_order,
)

WHERE = Where("chapter.md", 1)
YES = Option("a", "yes", True, "<p>it is</p>")
NO = Option("b", "no", False, "<p>it is not</p>")
ALSO = Option("c", "also", True, "<p>this too</p>")


def question(kind: Kind, **parts: object) -> Question:
    bare = Question(id="q", kind=kind, role=Role.FACTUAL, concepts=(), prompt="", where=WHERE)
    return dataclasses.replace(bare, **parts)  # type: ignore[arg-type]


CHOICE = question(Kind.CHOICE, options=(YES, NO))
SEVERAL = question(Kind.SEVERAL, options=(YES, NO, ALSO))
NUMBER = question(
    Kind.NUMBER, number=NumberKey(12.0, 0.5, "nodes", ((24.0, "<p>counted twice</p>"),), "<p>count them</p>")
)
TEXT = question(
    Kind.TEXT,
    accepted=("AccumulateGrad",),
    options=(Option("AccumulateGrad2", "", False, "<p>near</p>"), Option("*", "", False, "<p>no</p>")),
)
CLICK = question(Kind.GRAPH_CLICK, graph=GraphKey("cell", ("x",), {"mul": "<p>makes it</p>"}, "<p>elsewhere</p>"))
LINE = question(Kind.WRONG_LINE, code="a\nb\nc", accepted=("2",), options=(Option("1", "", False, "<p>fine</p>"),))
ORDER = question(
    Kind.ORDER, code="first\nsecond\nthird\nfourth", options=(Option("*", "", False, "<p>begin with the first</p>"),)
)
OPEN = question(Kind.OPEN, rubric=("point",))


def letters_of(order: Question) -> dict[str, str]:
    """Each line's letter in the shown order."""
    lines = code_lines(order)
    return {lines[index]: line_letter(place) for place, index in enumerate(shown_order(len(lines)))}


RIGHT_ORDER = " ".join(letters_of(ORDER)[line] for line in code_lines(ORDER))


@pytest.mark.parametrize(
    ("asked", "answer", "mark"),
    [
        (CHOICE, Given(("a",)), Mark(True, "<p>it is</p>")),
        (CHOICE, Given(("b",)), Mark(False, "<p>it is not</p>")),
        (SEVERAL, Given(("a", "c")), Mark(True, "<p>it is</p><p>this too</p>")),
        (SEVERAL, Given(("a",)), Mark(False, MISSING)),
        (SEVERAL, Given(("a", "b", "c")), Mark(False, "<p>it is not</p>")),
        (NUMBER, Given(text="12"), Mark(True, "")),
        (NUMBER, Given(text="12.5"), Mark(True, "")),
        (NUMBER, Given(text="12.6"), Mark(False, "<p>count them</p>")),
        (NUMBER, Given(text="24"), Mark(False, "<p>counted twice</p>")),
        (TEXT, Given(text=" `accumulategrad`. "), Mark(True, "")),
        (TEXT, Given(text="AccumulateGrad2"), Mark(False, "<p>near</p>")),
        (TEXT, Given(text="MulBackward0"), Mark(False, "<p>no</p>")),
        (CLICK, Given(node_names=("x",)), Mark(True, "")),
        (CLICK, Given(node_names=("y", "mul")), Mark(False, "<p>makes it</p>")),
        (CLICK, Given(node_names=("add",)), Mark(False, "<p>elsewhere</p>")),
        (LINE, Given(("2",)), Mark(True, "")),
        (LINE, Given(("1",)), Mark(False, "<p>fine</p>")),
        (LINE, Given(("3",)), Mark(False, "")),
        (ORDER, Given(text=RIGHT_ORDER), Mark(True, "")),
        (ORDER, Given(text=RIGHT_ORDER.replace(" ", "").upper()), Mark(True, "")),
        (ORDER, Given(text=RIGHT_ORDER[::-1]), Mark(False, "<p>begin with the first</p>")),
        (OPEN, Given(text="because"), Mark(None, "")),
    ],
)
def test_an_answer_is_marked_with_its_own_feedback(asked: Question, answer: Given, mark: Mark) -> None:
    assert mark_answer(asked, answer) == mark


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (CHOICE, Given()),
        (CHOICE, Given(("z",))),
        (CHOICE, Given(("a", "b"))),
        (SEVERAL, Given(("z",))),
        (NUMBER, Given(text="twelve")),
        (NUMBER, Given(text="nan")),
        (NUMBER, Given(text="1/0")),
        (NUMBER, Given(text=" ")),
        (TEXT, Given(text="")),
        (CLICK, Given()),
        (LINE, Given(("4",))),
        (LINE, Given(("²",))),
        (ORDER, Given(text="a b")),
        (ORDER, Given(text="a a b c")),
        (OPEN, Given(text="  ")),
    ],
)
def test_what_is_no_answer_is_sent_back_with_a_sentence(asked: Question, answer: Given) -> None:
    with pytest.raises(Unmarkable, match=r"\.$|right\.$"):
        mark_answer(asked, answer)


def test_every_kind_of_question_can_be_marked() -> None:
    by_kind = {asked.kind for asked in (CHOICE, SEVERAL, NUMBER, TEXT, CLICK, LINE, ORDER, OPEN)}

    assert by_kind == set(Kind)


@pytest.mark.parametrize(
    ("text", "value"),
    [("1,024", 1024.0), ("1_024", 1024.0), ("1/3", 1 / 3), ("−2", -2.0), ("50 %", 50.0), ("1e-3", 0.001)],
)
def test_a_number_may_be_written_as_people_write_it(text: str, value: float) -> None:
    assert read_number(text) == value


@given(st.integers(2, 60))
def test_the_shown_order_has_every_line_once_and_is_never_the_right_one(count: int) -> None:
    shown = shown_order(count)

    assert sorted(shown) == list(range(count))
    assert shown != tuple(range(count))


@given(st.integers(1, 200))
def test_lines_have_letters_of_their_own(count: int) -> None:
    assert len({line_letter(place) for place in range(count)}) == count


def test_lines_that_read_the_same_may_change_places() -> None:
    twins = question(Kind.ORDER, code="same\nother\nsame")
    places = {index: line_letter(place) for place, index in enumerate(shown_order(3))}

    assert mark_answer(twins, Given(text=f"{places[2]} {places[1]} {places[0]}")).right
