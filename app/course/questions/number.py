"""A question whose answer is a number, right within a tolerance. Pure."""

import math
import re
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from app.course.blocks import VariantDraw
from app.course.problems import Rule
from app.course.questions.draw_values import ANSWER, TOLERANCE, number_of
from app.course.questions.marking import Mark, QuestionResponse, Unmarkable, need_text
from app.course.questions.placeholders import unmark
from app.course.questions.question import DrawnOptions, QuestionBase, QuestionOptions, Written
from app.course.questions.wrong_answers import WrongAnswers, read_drawn_wrong_answers, read_wrong_answers

DECIMAL_COMMA = re.compile(r"^[^,.]*,(?!\d{3}(?!\d))[^,]*$|,\d{3}\d")
"""A comma that cannot separate thousands, because three digits do not follow it."""
SIGNIFICANT = 4
"""From so many digits on, a number that is not a whole one counts as rounded."""
EXACT_PARTS = 1024

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
            _check_tolerance(options, written)
        return cls(**vars(written.common), value=value, tolerance=options.tolerance, unit=options.unit, wrong=wrong)

    def mark(self, response: QuestionResponse) -> Mark:
        text = need_text(response, "Write a number first.")
        given = read_number(text)
        self._refuse_decimal_comma(text)
        if abs(given - self.value) <= self.tolerance + _rounding(self.value):
            return Mark(True, "")
        for wrong in self.wrong.known:
            value = number_of(wrong.answer, math.nan)
            if abs(given - value) <= self.tolerance + _rounding(value):
                return Mark(False, wrong.feedback)
        return Mark(False, self.wrong.otherwise)

    def _refuse_decimal_comma(self, text: str) -> None:
        """“2,303” is 2303 here: if it would be right with a point, the learner has to hear of the comma instead."""
        pointed = text.strip().replace(",", ".")
        value = number_of(pointed, math.nan)
        if "," in text and abs(value - self.value) <= self.tolerance + _rounding(self.value):
            raise Unmarkable(f"A comma separates thousands here. Write a point: {pointed}.")

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


def _check_tolerance(options: NumberOptions, written: Written) -> None:
    """A rounded number needs a tolerance of half its last digit: otherwise the exact number would be wrong."""
    digits = f"{options.value:.15g}".replace("-", "")
    decimals = len(digits.partition(".")[2]) if "e" not in digits else 0
    rounded = decimals and len(digits.replace(".", "").lstrip("0")) >= SIGNIFICANT
    if not rounded or (options.value * EXACT_PARTS).is_integer():
        return
    least = 0.5 * 10.0**-decimals
    if options.tolerance < least * 0.999:
        message = f"the tolerance {options.tolerance:g} cannot be met: {digits} is rounded to {decimals} decimals"
        remedy = f"write `:tolerance: {10.0**-decimals:.{decimals}f}` or more"
        written.report.add(written.line_of("tolerance"), Rule.ANSWER_KEY, digits, message, remedy)


def _write_exactly(draw: VariantDraw) -> dict[str, str]:
    return {name: repr(value) for name, value in draw.values.items()}


def _rounding(value: float) -> float:
    """The error allowed for rounding: a typed decimal and a computed double may differ in the last bits."""
    return abs(value) * 1e-9


def read_number(text: str) -> float:
    """A number as people write it: 1,024 or 1_024, a fraction 1/3, a percent sign. Raises Unmarkable."""
    if DECIMAL_COMMA.search(text):
        pointed = text.strip()[:40].replace(",", ".")
        raise Unmarkable(f"“{text.strip()[:40]}” has a comma. Use a point for decimals: {pointed}.")
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
