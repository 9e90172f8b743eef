"""A question whose answer is a number, right within a tolerance. Pure."""

import math
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from app.course.blocks import VariantDraw
from app.course.problems import Rule
from app.course.questions.marking import Mark, QuestionResponse, Unmarkable, need_text
from app.course.questions.marks import unmark
from app.course.questions.question import DrawnOptions, QuestionBase, QuestionOptions, Written
from app.course.questions.variants import ANSWER, TOLERANCE, number_of
from app.course.questions.wrong_answers import WrongAnswers, read_drawn_wrong_answers, read_wrong_answers

Tolerance = Annotated[float, Field(ge=0, allow_inf_nan=False, description="write a number that is 0 or more")]
Unit = Annotated[str, Field(description="write the unit shown beside the field")]


class NumberOptions(QuestionOptions):
    value: float = Field(allow_inf_nan=False, description="write the right number, e.g. `:value: 3`")
    tolerance: Tolerance = 0.0
    unit: Unit = ""


class DrawnNumberOptions(DrawnOptions):
    tolerance: Tolerance = 0.0
    unit: Unit = ""


@dataclass(frozen=True, kw_only=True)
class Number(QuestionBase):
    """Right where |given - value| <= tolerance, in `unit` (shown beside the field).

    If the question has a variant, `value` is NaN until a draw fills it.
    """

    value: float
    tolerance: float
    unit: str
    wrong: WrongAnswers

    kind = "number"
    options_model = NumberOptions
    drawn_options_model = DrawnNumberOptions

    @classmethod
    def read(cls, written: Written) -> "Number":
        options = written.options
        if isinstance(options, DrawnNumberOptions):
            value, wrong = math.nan, read_drawn_wrong_answers(written.items, written.line, written.report)
        else:
            assert isinstance(options, NumberOptions)
            value, wrong = options.value, _read_wrong_numbers(options, written)
        return cls(**vars(written.common), value=value, tolerance=options.tolerance, unit=options.unit, wrong=wrong)

    def mark(self, response: QuestionResponse) -> Mark:
        given = read_number(need_text(response, "Write a number first."))
        if abs(given - self.value) <= self.tolerance + _rounding(self.value):
            return Mark(True, "")
        for wrong in self.wrong.known:
            value = number_of(wrong.answer, math.nan)
            if abs(given - value) <= self.tolerance + _rounding(value):
                return Mark(False, wrong.feedback)
        return Mark(False, self.wrong.otherwise)

    def fill(self, draw: VariantDraw) -> "Number":
        return replace(
            super().fill(draw),
            value=number_of(draw.values.get(ANSWER, math.nan), math.nan),
            tolerance=number_of(draw.values.get(TOLERANCE, self.tolerance), self.tolerance),
            wrong=self.wrong.fill(draw, _write_exactly),
        )

    def find_flaw(self, draw: VariantDraw) -> str:
        filled = self.fill(draw)
        if not math.isfinite(filled.value):
            return f"its {ANSWER!r} is not a number"
        for written, wrong in zip(self.wrong.known, filled.wrong.known, strict=True):
            value = number_of(wrong.answer, math.nan)
            if not math.isfinite(value):
                return f"the wrong answer {unmark(written.answer)} is not a number"
            if abs(value - filled.value) <= 2 * filled.tolerance + _rounding(filled.value):
                return f"the wrong answer {unmark(written.answer)} is the truth"
        return ""


def _write_exactly(draw: VariantDraw) -> dict[str, str]:
    return {name: repr(value) for name, value in draw.values.items()}


def _rounding(value: float) -> float:
    """The error allowed for rounding: a typed decimal and a computed double may differ in the last bits."""
    return abs(value) * 1e-9


def read_number(text: str) -> float:
    """A number as people write it: 1,024 or 1_024, a fraction 1/3, a percent sign. Raises Unmarkable."""
    plain = text.strip().rstrip("%").replace("_", "").replace(",", "").replace("−", "-").strip()
    numerator, slash, denominator = plain.partition("/")
    try:
        value = float(numerator) / float(denominator) if slash else float(numerator)
    except (ValueError, ZeroDivisionError):
        raise Unmarkable(f"“{text.strip()[:40]}” is not a number; write digits, for example 12 or 0.5.") from None
    if not math.isfinite(value):
        raise Unmarkable("Write a finite number.")
    return value


def _read_wrong_numbers(options: NumberOptions, written: Written) -> WrongAnswers:
    wrong = read_wrong_answers(written.items, (), written.report)
    answers = [known.answer for known in wrong.known]
    for item in written.items:
        value = number_of(item.text, math.nan)
        if item.text in answers and math.isnan(value):
            message, remedy = f"{item.text!r} is not a number", "write one number after the box"
            written.report.add(item.line, Rule.ANSWER_KEY, item.text, message, remedy)
        elif abs(value - options.value) <= options.tolerance:
            message = f"the distractor {item.text} is within the tolerance of the right number"
            remedy = "make the tolerance smaller, or remove the distractor"
            written.report.add(item.line, Rule.ANSWER_KEY, item.text, message, remedy)
    return wrong
