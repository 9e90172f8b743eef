"""A variant is one question with many draws: parsed once, filled as often as it is drawn."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.course.block_tree import blocks_of
from app.course.blocks import VariantDraw
from app.course.loader import load_course
from app.course.questions.code_lines import shown_order
from app.course.questions.draw_values import show_value
from app.course.questions.kinds import Number
from app.course.questions.marking import QuestionResponse
from app.course.questions.placeholders import (
    fill_html,
    fill_text,
    mark_placeholders,
    number_marks,
    restore_marks,
    unmark,
)
from app.course.questions.question import QuestionBase

FIXTURE = Path(__file__).parents[3] / "course"


@pytest.fixture(scope="module")
def questions() -> dict[str, QuestionBase]:
    course, problems = load_course(FIXTURE)
    assert problems == ()
    found = [question for chapter in course.chapters for question in blocks_of(QuestionBase, chapter.blocks)]
    return {question.id: question for question in found}


@pytest.fixture
def calls(questions: dict[str, QuestionBase]) -> Number:
    found = questions["after-several-calls"]
    assert isinstance(found, Number)
    return found


def draw_of(question: QuestionBase, seed: int) -> VariantDraw:
    found = question.find_draw(seed)
    assert found
    return found


def test_a_draw_fills_words_code_formulas_and_the_answer(calls: Number) -> None:
    filled = calls.fill(draw_of(calls, 4))

    assert "y = 0.5 * x" in filled.prompt
    assert 'class="mord">0.5</span>' in filled.prompt
    assert '<span class="mi">3</span>' in filled.prompt
    assert filled.answer == "<p>3 times 0.5 is 1.5.</p>"
    assert filled.variant is None
    assert "\ue000" not in repr(filled)


def test_each_draw_has_its_own_truth_and_its_own_distractors(calls: Number) -> None:
    filled = calls.fill(draw_of(calls, 4))

    assert filled.mark(QuestionResponse(text="1.5")).right
    assert filled.mark(QuestionResponse(text="0.5")).feedback.startswith(
        "<p>That is the gradient of <em>one</em> call"
    )
    assert filled.mark(QuestionResponse(text="2")).feedback == "<p>It grows by 0.5 a call; it does not double.</p>"


def test_a_wrong_answer_that_the_author_did_not_foresee_has_feedback_in_each_draw(calls: Number) -> None:
    wrong = replace(calls.wrong, otherwise="<p>Add them up.</p>")
    filled = replace(calls, wrong=wrong).fill(draw_of(calls, 4))

    assert filled.mark(QuestionResponse(text="1.5")).right
    assert filled.mark(QuestionResponse(text="0.5")).feedback.startswith(
        "<p>That is the gradient of <em>one</em> call"
    )
    assert filled.mark(QuestionResponse(text="77")).feedback == "<p>Add them up.</p>"


def test_the_answers_of_a_choice_are_named_by_their_words_and_stand_in_an_order_of_the_draw(
    questions: dict[str, QuestionBase],
) -> None:
    uses = questions["sum-of-uses"]
    assert uses.variant
    orders = {
        tuple(option.right for option in uses.fill(draw).options)
        for draw in (replace(uses.variant.draws[0], seed=seed) for seed in range(20))
    }
    filled = uses.fill(draw_of(uses, 1))

    assert {option.id for option in filled.options} == {"3", "6", "none"}
    assert [option.id for option in filled.options if option.right] == ["3"]
    assert len(orders) > 1


def test_which_of_several_answers_are_right_is_what_the_draw_says(questions: dict[str, QuestionBase]) -> None:
    sums = questions["tracked-sums"]
    first, last = (sums.fill(draw_of(sums, seed)) for seed in (0, 3))

    assert [(option.id, option.right) for option in first.options] == [("a-b", False), ("b-c", True), ("c-a", True)]
    assert all(option.right for option in last.options)
    assert first.mark(QuestionResponse(values=("b-c", "c-a"))).right
    wrong = first.mark(QuestionResponse(values=("a-b", "b-c", "c-a")))
    assert (wrong.right, wrong.feedback) == (
        False,
        "<p><code>a</code> is False and <code>b</code> is False; one is enough.</p>",
    )


def test_answers_whose_words_differ_in_signs_alone_have_names_of_their_own(
    questions: dict[str, QuestionBase],
) -> None:
    sums = questions["tracked-sums"]
    draw = draw_of(sums, 0)
    signs = tuple(replace(sums.options[0], id=f"a {sign} b") for sign in "+-*")

    filled = replace(sums, options=signs).fill(replace(draw, values={**draw.values, "answer": "a * b"}))
    assert [(option.id, option.right) for option in filled.options] == [
        ("a-b", False),
        ("a-b-2", False),
        ("a-b-3", True),
    ]


def test_a_draw_gives_the_lines_and_the_guilty_one(questions: dict[str, QuestionBase]) -> None:
    guilty = questions["guilty-line"].fill(draw_of(questions["guilty-line"], 0))
    marks = [guilty.mark(QuestionResponse(values=(str(line),))) for line in range(1, 7)]

    assert guilty.lines[4] == "optimizer.zero_grad()"
    assert [mark.right for mark in marks] == [False, False, False, False, True, False]
    assert marks[3].feedback == "<p>Line 4 fills what the step needs.</p>"
    assert marks[5].feedback == "<p>This line does what it should.</p>"


def test_lines_to_put_in_order_are_those_of_the_draw(questions: dict[str, QuestionBase]) -> None:
    order = questions["drawn-order"].fill(draw_of(questions["drawn-order"], 0))
    letters = [shown_order(4).index(number) for number in range(4)]

    assert order.lines == ("sgd.zero_grad()", "loss = model(batch)", "loss.backward()", "sgd.step()")
    assert order.mark(QuestionResponse(text="".join("abcd"[place] for place in letters))).right


def test_a_learner_meets_each_draw_once_before_any_comes_again(calls: Number) -> None:
    assert calls.variant
    seen: list[int] = []
    for _ in calls.variant.draws:
        draw = calls.pick_draw("ada", seen)
        assert draw
        seen.append(draw.seed)

    again = calls.pick_draw("ada", seen)
    assert len(set(seen)) == len(calls.variant.draws)
    assert again
    assert again.seed == seen[0]


def test_learners_begin_with_different_draws(calls: Number) -> None:
    firsts = {draw.seed for number in range(40) if (draw := calls.pick_draw(f"learner {number}"))}

    assert len(firsts) > 3


def test_a_question_without_draws_gives_none(calls: Number) -> None:
    assert calls.variant
    undrawn = replace(calls, variant=replace(calls.variant, draws=()))

    assert undrawn.pick_draw("ada") is None
    assert calls.find_draw(None) is None


def test_draws_that_are_gone_do_not_stand_in_the_way(calls: Number) -> None:
    assert calls.pick_draw("ada", [999]) == calls.pick_draw("ada")


@pytest.mark.parametrize(
    ("value", "shown"), [(4, "4"), (4.0, "4"), (1 / 3, "0.333333"), (1e-7, "1e-07"), (True, "True"), ("a|b", "a|b")]
)
def test_a_number_is_shown_with_six_digits_at_most(value: float | str, shown: str) -> None:
    assert show_value(value) == shown


@given(st.text(alphabet="ab{} $`", max_size=40))
def test_marking_and_unmarking_gives_the_line_back(text: str) -> None:
    marked = mark_placeholders(text.replace(" ", ""))

    assert unmark(marked) == text.replace(" ", "")


def test_a_value_is_text_in_html_whatever_it_holds() -> None:
    assert fill_html(mark_placeholders("<p>{{x}}</p>"), {"x": "<b>"}) == "<p>&lt;b&gt;</p>"


def test_a_name_that_a_draw_lacks_is_left_as_it_was_written() -> None:
    assert fill_text(mark_placeholders("{{ x }} and {{y}}"), {"x": "1"}) == "1 and {{y}}"


def test_a_mark_in_a_formula_is_typeset_as_a_number_of_its_own() -> None:
    tex, names = number_marks(mark_placeholders("x^{{n}}"))

    assert tex == "x^{9700001}"
    assert fill_html(restore_marks(f"<mn>{tex[3:-1]}</mn>", names), {"n": "12"}) == "<mn>12</mn>"
