"""Wrong answers that an author expects: read from a list, filled from a draw, each with its feedback. Pure."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from app.course.blocks import Html, VariantDraw
from app.course.problems import Report, Rule
from app.course.questions.draw_values import ANSWER, plain_text, show_values
from app.course.questions.items import Item
from app.course.questions.placeholders import fill_html, fill_text, unmark

EVERY_OTHER = "*"
"""The label of the feedback that belongs to every answer not listed."""

ANSWER_MARK = f"{{{{{ANSWER}}}}}"
"""The placeholder for the right answer, as the author of a variant writes it."""


@dataclass(frozen=True)
class KnownWrong:
    """`answer` is what a learner with one wrong idea answers: a number, a word, a node's name, a line number."""

    answer: str
    feedback: Html


@dataclass(frozen=True)
class WrongAnswers:
    """The feedback to each wrong answer that the author expects, and to all others."""

    known: tuple[KnownWrong, ...] = ()
    otherwise: Html = ""

    def feedback_to(self, *given: str) -> Html:
        """The feedback to the first of the given names that is a known wrong answer."""
        known = {wrong.answer: wrong.feedback for wrong in self.known}
        return next((known[name] for name in given if name in known), self.otherwise)

    def fill(self, draw: VariantDraw, show: Callable[[VariantDraw], dict[str, str]] = show_values) -> "WrongAnswers":
        """`show` turns the draw's values into the texts that fill the answers."""
        shown, given = show_values(draw), show(draw)
        known = (
            KnownWrong(plain_text(fill_text(wrong.answer, given)), fill_html(wrong.feedback, shown))
            for wrong in self.known
        )
        return WrongAnswers(tuple(known), fill_html(self.otherwise, shown))

    def find_truth(self, draw: VariantDraw, right: Collection[str]) -> str:
        """Why a draw cannot be used: a known wrong answer is right in it, so a wrong idea would be marked right."""
        pairs = zip(self.known, self.fill(draw).known, strict=True)
        found = next((wrong for wrong, filled in pairs if filled.answer.casefold() in right), None)
        return f"the wrong answer {unmark(found.answer)} is the truth" if found else ""


def read_wrong_answers(items: Sequence[Item], right: Collection[str], report: Report) -> WrongAnswers:
    for item in items:
        if item.right or unmark(item.text) in right:
            message = f"{item.text!r} is listed as a distractor but is right"
            report.add(item.line, Rule.ANSWER_KEY, item.text, message, "list wrong answers only, each with `- [ ]`")
    known = tuple(KnownWrong(item.text, item.feedback) for item in items if item.text != EVERY_OTHER)
    return WrongAnswers(known, next((item.feedback for item in items if item.text == EVERY_OTHER), ""))


def read_drawn_wrong_answers(items: Sequence[Item], line: int, report: Report) -> WrongAnswers:
    """The wrong answers of a question with a variant. One is required: draws in which it is right are rejected."""
    wrong = read_wrong_answers(items, [ANSWER_MARK], report)
    if not wrong.known:
        message = "this question has a variant but no distractor that must differ from the truth"
        remedy = "list what a reader with a wrong idea would answer: `- [ ] {{name}}`, with a quotation under it"
        report.add(line, Rule.MISSING_PART, "", message, remedy)
    return wrong


def need_otherwise(items: Sequence[Item], line: int, message: str, report: Report) -> None:
    """Reports a list without feedback to the wrong answers that are not listed."""
    if not any(item.text == EVERY_OTHER for item in items):
        remedy = "add `- [ ] *` with a quotation under it"
        report.add(line, Rule.MISSING_FEEDBACK, EVERY_OTHER, message, remedy)
