"""Marking answers: each kind of question, right, wrong, and unusable."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.course.blocks import Option, Role, Where
from app.course.questions.choice import MISSING
from app.course.questions.code_lines import line_letter, shown_order
from app.course.questions.kinds import (
    KINDS,
    Choice,
    GraphClick,
    Number,
    Open,
    Order,
    Question,
    Several,
    Text,
    WrongLine,
)
from app.course.questions.marking import Mark, QuestionResponse, Unmarkable
from app.course.questions.number import read_number
from app.course.questions.question import Listing
from app.course.questions.wrong_answers import KnownWrong, WrongAnswers

COMMON = {
    "id": "q",
    "role": Role.FACTUAL,
    "concepts": (),
    "prompt": "",
    "where": Where("chapter.md", 1),
    "content_hash": "",
}
YES = Option("a", "yes", True, "<p>it is</p>")
NO = Option("b", "no", False, "<p>it is not</p>")
ALSO = Option("c", "also", True, "<p>this too</p>")


def code(*lines: str) -> Listing:
    return Listing("\n".join(lines), "python")


CHOICE = Choice(**COMMON, options=(YES, NO))
SEVERAL = Several(**COMMON, options=(YES, NO, ALSO))
NUMBER = Number(
    **COMMON,
    value=12.0,
    tolerance=0.5,
    unit="nodes",
    wrong=WrongAnswers((KnownWrong("24", "<p>counted twice</p>"),), "<p>count them</p>"),
)
TEXT = Text(
    **COMMON,
    accepted=("AccumulateGrad",),
    wrong=WrongAnswers((KnownWrong("AccumulateGrad2", "<p>near</p>"),), "<p>no</p>"),
)
CLICK = GraphClick(
    **COMMON,
    cell="cell",
    targets=("x",),
    wrong=WrongAnswers((KnownWrong("mul", "<p>makes it</p>"),), "<p>elsewhere</p>"),
)
LINE = WrongLine(
    **COMMON, code=code("a", "b", "c"), guilty=(2,), wrong=WrongAnswers((KnownWrong("1", "<p>fine</p>"),))
)
ORDER = Order(**COMMON, code=code("first", "second", "third", "fourth"), otherwise="<p>begin with the first</p>")
OPEN = Open(**COMMON, rubric=("point",))


def letters_of(order: Order) -> dict[str, str]:
    """Each line's letter in the shown order."""
    return {order.lines[index]: letter for letter, index in order.letters().items()}


RIGHT_ORDER = " ".join(letters_of(ORDER)[line] for line in ORDER.lines)


@pytest.mark.parametrize(
    ("asked", "answer", "mark"),
    [
        (CHOICE, QuestionResponse(("a",)), Mark(True, "<p>it is</p>")),
        (CHOICE, QuestionResponse(("b",)), Mark(False, "<p>it is not</p>")),
        (SEVERAL, QuestionResponse(("a", "c")), Mark(True, "<p>it is</p><p>this too</p>")),
        (SEVERAL, QuestionResponse(("a",)), Mark(False, MISSING)),
        (SEVERAL, QuestionResponse(("a", "b", "c")), Mark(False, "<p>it is not</p>")),
        (NUMBER, QuestionResponse(text="12"), Mark(True, "")),
        (NUMBER, QuestionResponse(text="12.5"), Mark(True, "")),
        (NUMBER, QuestionResponse(text="12.6"), Mark(False, "<p>count them</p>")),
        (NUMBER, QuestionResponse(text="24"), Mark(False, "<p>counted twice</p>")),
        (TEXT, QuestionResponse(text=" `accumulategrad`. "), Mark(True, "")),
        (TEXT, QuestionResponse(text="AccumulateGrad2"), Mark(False, "<p>near</p>")),
        (TEXT, QuestionResponse(text="MulBackward0"), Mark(False, "<p>no</p>")),
        (CLICK, QuestionResponse(node_names=("x",)), Mark(True, "")),
        (CLICK, QuestionResponse(node_names=("y", "mul")), Mark(False, "<p>makes it</p>")),
        (CLICK, QuestionResponse(node_names=("add",)), Mark(False, "<p>elsewhere</p>")),
        (LINE, QuestionResponse(("2",)), Mark(True, "")),
        (LINE, QuestionResponse(("1",)), Mark(False, "<p>fine</p>")),
        (LINE, QuestionResponse(("3",)), Mark(False, "")),
        (ORDER, QuestionResponse(text=RIGHT_ORDER), Mark(True, "")),
        (ORDER, QuestionResponse(text=RIGHT_ORDER.replace(" ", "").upper()), Mark(True, "")),
        (ORDER, QuestionResponse(text=RIGHT_ORDER[::-1]), Mark(False, "<p>begin with the first</p>")),
        (OPEN, QuestionResponse(text="because"), Mark(None, "")),
    ],
)
def test_an_answer_is_marked_with_its_own_feedback(asked: Question, answer: QuestionResponse, mark: Mark) -> None:
    assert asked.mark(answer) == mark


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (CHOICE, QuestionResponse()),
        (CHOICE, QuestionResponse(("z",))),
        (CHOICE, QuestionResponse(("a", "b"))),
        (SEVERAL, QuestionResponse(("z",))),
        (NUMBER, QuestionResponse(text="twelve")),
        (NUMBER, QuestionResponse(text="nan")),
        (NUMBER, QuestionResponse(text="1/0")),
        (NUMBER, QuestionResponse(text=" ")),
        (TEXT, QuestionResponse(text="")),
        (CLICK, QuestionResponse()),
        (LINE, QuestionResponse(("4",))),
        (LINE, QuestionResponse(("²",))),
        (ORDER, QuestionResponse(text="a b")),
        (ORDER, QuestionResponse(text="a a b c")),
        (OPEN, QuestionResponse(text="  ")),
    ],
)
def test_what_is_no_answer_is_sent_back_with_a_sentence(asked: Question, answer: QuestionResponse) -> None:
    with pytest.raises(Unmarkable, match=r"\.$|right\.$"):
        asked.mark(answer)


def test_every_kind_of_question_can_be_marked() -> None:
    by_kind = {asked.kind for asked in (CHOICE, SEVERAL, NUMBER, TEXT, CLICK, LINE, ORDER, OPEN)}

    assert by_kind == set(KINDS)


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
    assert len({line_letter(position) for position in range(count)}) == count


def test_lines_that_read_the_same_may_change_places() -> None:
    twins = Order(**COMMON, code=code("same", "other", "same"), otherwise="")
    letters = {index: letter for letter, index in twins.letters().items()}

    assert twins.mark(QuestionResponse(text=f"{letters[2]} {letters[1]} {letters[0]}")).right


@pytest.mark.parametrize(
    ("typed", "words"),
    [("2,3026", "Use a point for decimals: 2.3026"), ("2,3", "2.3"), ("2,303", "Write a point: 2.303")],
)
def test_a_comma_as_decimal_sign_is_told_as_such_and_is_no_wrong_answer(typed: str, words: str) -> None:
    asked = replace(NUMBER, value=2.3026, tolerance=0.001)

    with pytest.raises(Unmarkable, match=re.escape(words)):
        asked.mark(QuestionResponse(text=typed))


@pytest.mark.parametrize("typed", ["1,024", "1024", "1_024"])
def test_a_comma_between_thousands_is_read_as_one(typed: str) -> None:
    assert replace(NUMBER, value=1024.0, tolerance=0.0).mark(QuestionResponse(text=typed)).right
