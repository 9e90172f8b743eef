"""Questions about the lines of a program: put them in order, or find the wrong one. Pure."""

import re
from dataclasses import dataclass, field, replace
from string import ascii_lowercase
from typing import Self
from zlib import crc32

from pydantic import Field

from app.course.blocks import Html, VariantDraw
from app.course.language.option_fields import LineNumbers
from app.course.problems import Rule
from app.course.questions.draw_values import ANSWER, show_values, split_texts
from app.course.questions.marking import Mark, QuestionResponse, Unmarkable
from app.course.questions.placeholders import fill_html, fill_text, names_in, unmark
from app.course.questions.question import DrawnOptions, Listing, QuestionBase, QuestionOptions, Written
from app.course.questions.wrong_answers import (
    ANSWER_MARK,
    EVERY_OTHER,
    KnownWrong,
    WrongAnswers,
    need_otherwise,
    read_wrong_answers,
)

FEWEST_LINES = 3
"""An ordering question needs at least this many lines."""

SHUFFLE = "shuffle"
"""The value of a draw that decides the order in which its lines are shown."""

NOTHING_SAID = "the choice of any other line gets no feedback"


class WrongLineOptions(QuestionOptions):
    lines: LineNumbers = Field(description="write the wrong lines' numbers, from 1, with commas between them")


@dataclass(frozen=True, kw_only=True)
class CodeQuestion(QuestionBase):
    """What both kinds have in common."""

    code: Listing

    drawn_options_model = DrawnOptions
    asks_about_code = True

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(self.code.source.split("\n"))

    def fill(self, draw: VariantDraw) -> Self:
        source = fill_text(self.code.source, show_values(draw)).rstrip("\n")
        return replace(super().fill(draw), code=replace(self.code, source=source))


@dataclass(frozen=True, kw_only=True)
class Order(CodeQuestion):
    """The code is written in the right order.

    With a variant, an answer may be a draw's value that holds the lines in a wrong order. `otherwise` is the feedback
    to all other orders: there are too many. `shuffle` decides the order in which the lines are first shown.
    """

    otherwise: Html
    wrong: WrongAnswers = field(default_factory=WrongAnswers)
    shuffle: str = ""

    kind = "order"
    draws_answer = False

    @classmethod
    def read(cls, written: Written) -> "Order":
        drawn = isinstance(written.options, DrawnOptions)
        for item in written.items:
            if item.text != EVERY_OTHER and not (drawn and names_in(item.text)):
                message = f"{item.text!r} is not an answer to a question about order"
                remedy = "write `- [ ] *`, which stands for every wrong order"
                written.report.add(item.line, Rule.ANSWER_KEY, item.text, message, remedy)
        code = _read_code(written, 1 if drawn else FEWEST_LINES)
        wrong = read_wrong_answers(written.items, (), written.report)
        return cls(**vars(written.common), code=code, otherwise=wrong.otherwise, wrong=wrong)

    def letters(self) -> dict[str, int]:
        """The letter of each line, in the order first shown, with the line's index in the right order."""
        return {
            line_letter(position): index for position, index in enumerate(shown_order(len(self.lines), self.shuffle))
        }

    def mark(self, response: QuestionResponse) -> Mark:
        """Marks a text of line letters; identical lines may be exchanged."""
        shown = self.letters()
        letters = re.findall(r"[a-z]+", response.text.lower())
        if len(letters) == 1 and len(shown) <= len(ascii_lowercase):
            letters = list(letters[0])
        if sorted(letters) != sorted(shown):
            listed = ", ".join(shown)
            raise Unmarkable(f"Name each line once, by its letter: {listed} in the order that you think is right.")
        given = tuple(self.lines[shown[letter]] for letter in letters)
        if given == self.lines:
            return Mark(True, "")
        return Mark(False, self.wrong.feedback_to("\n".join(given)) or self.otherwise)

    def fill(self, draw: VariantDraw) -> "Order":
        """A draw that says how to `shuffle` its lines is shown in an order of its own."""
        values = show_values(draw)
        known = tuple(
            KnownWrong(fill_text(wrong.answer, values), fill_html(wrong.feedback, values))
            for wrong in self.wrong.known
        )
        otherwise, shuffle = fill_html(self.otherwise, values), values.get(SHUFFLE, "")
        return replace(super().fill(draw), otherwise=otherwise, wrong=WrongAnswers(known, otherwise), shuffle=shuffle)

    def find_flaw(self, draw: VariantDraw) -> str:
        filled = self.fill(draw)
        if len(filled.lines) < FEWEST_LINES:
            return f"its code has fewer than {FEWEST_LINES} lines"
        if unmarked := next((one for one in filled.wrong.known if one.answer == "\n".join(filled.lines)), None):
            known = self.wrong.known[filled.wrong.known.index(unmarked)]
            return f"the wrong answer {unmark(known.answer)} is the truth"
        shown = tuple(filled.lines[index] for index in filled.letters().values())
        return "its lines are shown in the right order" if shown == filled.lines else ""


@dataclass(frozen=True, kw_only=True)
class WrongLine(CodeQuestion):
    """`guilty` are line numbers, from 1; choosing any of them is right. With a variant, a draw fills them."""

    guilty: tuple[int, ...]
    wrong: WrongAnswers
    """Keyed by the number of a line that is not guilty."""

    kind = "wrong-line"
    options_model = WrongLineOptions

    @classmethod
    def read(cls, written: Written) -> "WrongLine":
        items, report, code = written.items, written.report, _read_code(written, 1)
        if not isinstance(written.options, WrongLineOptions):
            # Only a draw determines which lines are right, and sometimes how many lines there are.
            need_otherwise(items, written.line, NOTHING_SAID, report)
            wrong = read_wrong_answers(items, [ANSWER_MARK], report)
            return cls(**vars(written.common), code=code, guilty=(), wrong=wrong)
        guilty = written.options.lines
        total = code.source.count("\n") + 1 if len(written.listings) == 1 else 0
        for number in guilty:
            if total and number > total:
                message, remedy = f"the code has no line {number}", f"write a line from 1 to {total}"
                report.add(written.line_of("lines"), Rule.ANSWER_KEY, str(number), message, remedy)
        wrong = read_wrong_answers(items, list(map(str, guilty)), report)
        if len(wrong.known) < total - len(guilty):
            need_otherwise(items, written.line, NOTHING_SAID, report)
        return cls(**vars(written.common), code=code, guilty=guilty, wrong=wrong)

    def mark(self, response: QuestionResponse) -> Mark:
        chosen = response.values[0] if len(response.values) == 1 else ""
        if not chosen.isdecimal() or not 1 <= int(chosen) <= len(self.lines):
            raise Unmarkable("Choose the line first.")
        is_right = int(chosen) in self.guilty
        return Mark(is_right, "" if is_right else self.wrong.feedback_to(chosen))

    def fill(self, draw: VariantDraw) -> "WrongLine":
        guilty = tuple(int(line) for line in _guilty_in(draw) if line.isdecimal())
        return replace(super().fill(draw), guilty=guilty, wrong=self.wrong.fill(draw))

    def find_flaw(self, draw: VariantDraw) -> str:
        guilty, filled = _guilty_in(draw), self.fill(draw)
        numbers = [str(number) for number, _ in enumerate(filled.lines, 1)]
        if not guilty:
            return f"its {ANSWER!r} names no line"
        if stranger := next((line for line in guilty if line not in numbers), None):
            return f"its {ANSWER!r} names the line {stranger!r}, but the code has lines 1 to {len(numbers)}"
        if set(guilty) == set(numbers):
            return "every one of its lines is a right answer"
        for known, wrong in zip(self.wrong.known, filled.wrong.known, strict=True):
            if wrong.answer not in numbers:
                return f"the wrong answer {unmark(known.answer)} is not a line of its code"
        return self.wrong.find_truth(draw, guilty)


def _guilty_in(draw: VariantDraw) -> tuple[str, ...]:
    return split_texts(show_values(draw).get(ANSWER, ""), ",")


def _read_code(written: Written, fewest: int) -> Listing:
    """The question's one code block. Reports a missing block and one with fewer than `fewest` lines."""
    count = len(written.listings)
    code = written.listings[0] if count else Listing("", "python")
    total = code.source.count("\n") + 1
    if count != 1:
        message = f"this question has {count} code blocks; it needs exactly one"
        remedy = "write one ```python block in its body"
        written.report.add(written.line, Rule.MISSING_PART, str(count), message, remedy)
    elif total < fewest:
        message = f"the code has {total} lines; it needs at least {fewest}"
        written.report.add(written.line, Rule.ANSWER_KEY, str(total), message, "add lines")
    return code


def shown_order(line_count: int, shuffle: str = "") -> tuple[int, ...]:
    """The order in which the lines are first shown: the same for every learner, and never the right one."""
    right = tuple(range(line_count))
    mixed = tuple(sorted(right, key=lambda index: crc32(f"{shuffle}{line_count}:{index}".encode())))
    return mixed if mixed != right else right[::-1]


def line_letter(position: int) -> str:
    """The letter of a line in the shown order: a, b, ... z, then aa."""
    letters = ascii_lowercase
    return letters[position] if position < len(letters) else letters[position // 26 - 1] + letters[position % 26]
