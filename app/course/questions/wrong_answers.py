"""Wrong answers that an author foresaw: read from their list, filled by a draw, and what is said to each. Pure."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from app.course.blocks import Html, VariantDraw
from app.course.problems import Report, Rule
from app.course.questions.items import Item
from app.course.questions.marks import fill_html, fill_text, unmark
from app.course.questions.variants import ANSWER, plain_text, show_values

EVERY_OTHER = "*"
"""The label of the feedback that belongs to every answer not listed."""

ANSWER_MARK = f"{{{{{ANSWER}}}}}"
"""The right answer, as the author of a variant names it."""


@dataclass(frozen=True)
class KnownWrong:
    """`answer` is what a learner with that wrong idea gives: a number, a word, a node's name, a line's number."""

    answer: str
    feedback: Html


@dataclass(frozen=True)
class WrongAnswers:
    """What is said to the wrong answers that the author foresaw, and to every other."""

    known: tuple[KnownWrong, ...] = ()
    otherwise: Html = ""

    def feedback_to(self, *given: str) -> Html:
        """To the first of the names that is known to be wrong."""
        known = {wrong.answer: wrong.feedback for wrong in self.known}
        return next((known[name] for name in given if name in known), self.otherwise)

    def fill(self, draw: VariantDraw, show: Callable[[VariantDraw], dict[str, str]] = show_values) -> "WrongAnswers":
        """`show` writes the values that stand in the answers."""
        shown, given = show_values(draw), show(draw)
        known = (
            KnownWrong(plain_text(fill_text(wrong.answer, given)), fill_html(wrong.feedback, shown))
            for wrong in self.known
        )
        return WrongAnswers(tuple(known), fill_html(self.otherwise, shown))

    def find_truth(self, draw: VariantDraw, right: Collection[str]) -> str:
        """Why a draw cannot be asked: whoever gave this wrong answer would be told that they understood."""
        pairs = zip(self.known, self.fill(draw).known, strict=True)
        found = next((wrong for wrong, filled in pairs if filled.answer.casefold() in right), None)
        return f"the wrong answer {unmark(found.answer)} is the truth" if found else ""


def read_wrong_answers(items: Sequence[Item], right: Collection[str], report: Report) -> WrongAnswers:
    for item in items:
        if item.right or unmark(item.text) in right:
            message = f"{item.text!r} is listed as a distractor and is right"
            report.add(item.line, Rule.ANSWER_KEY, item.text, message, "list wrong answers only, each with `- [ ]`")
    known = tuple(KnownWrong(item.text, item.feedback) for item in items if item.text != EVERY_OTHER)
    return WrongAnswers(known, next((item.feedback for item in items if item.text == EVERY_OTHER), ""))


def read_drawn_wrong_answers(items: Sequence[Item], line: int, report: Report) -> WrongAnswers:
    """Those of a question whose truth is drawn: without any, nothing would keep a draw out that explains nothing."""
    wrong = read_wrong_answers(items, [ANSWER_MARK], report)
    if not wrong.known:
        message = "this variant question has no distractor to tell from the truth"
        remedy = "list what a reader with a wrong idea would answer: `- [ ] {{name}}`, with a quotation under it"
        report.add(line, Rule.MISSING_PART, "", message, remedy)
    return wrong


def need_otherwise(items: Sequence[Item], line: int, message: str, report: Report) -> None:
    """Reports that nothing is said to the wrong answers that are not listed."""
    if not any(item.text == EVERY_OTHER for item in items):
        remedy = "add `- [ ] *` with a quotation under it"
        report.add(line, Rule.MISSING_FEEDBACK, EVERY_OTHER, message, remedy)
