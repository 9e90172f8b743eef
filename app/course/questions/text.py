"""A question whose typed answer is compared with the texts that its author accepts. Pure."""

import re
from dataclasses import dataclass, replace

from pydantic import Field

from app.course.blocks import VariantDraw
from app.course.language.option_fields import Alternatives
from app.course.problems import Rule
from app.course.questions.draw_values import ANSWER, show_values, split_texts
from app.course.questions.marking import Mark, QuestionResponse, need_text
from app.course.questions.question import DrawnOptions, QuestionBase, QuestionOptions, Written
from app.course.questions.wrong_answers import WrongAnswers, read_drawn_wrong_answers, read_wrong_answers

GLUED_BAR = re.compile(r"\S\|\S|\S\||\|\S")
PATTERN = re.compile(r"\.[*+?]|\\[dwsb.(\[]|\[[^\]]*[a-z0-9]-[a-z0-9][^\]]*\]|\(\?|^\^|[^\s$]\$$|\w\?$|[*+]\)")


class TextOptions(QuestionOptions):
    accept: Alternatives = Field(description="write the accepted answers with ` | ` between them")


@dataclass(frozen=True, kw_only=True)
class Text(QuestionBase):
    """With a variant, `accepted` is empty until a draw fills it."""

    accepted: tuple[str, ...]
    wrong: WrongAnswers

    kind = "text"
    options_model = TextOptions
    drawn_options_model = DrawnOptions

    @classmethod
    def read(cls, written: Written) -> "Text":
        items, report = written.items, written.report
        if isinstance(written.options, TextOptions):
            accepted = written.options.accept
            _check_accepted(written)
            return cls(**vars(written.common), accepted=accepted, wrong=read_wrong_answers(items, accepted, report))
        return cls(**vars(written.common), accepted=(), wrong=read_drawn_wrong_answers(items, written.line, report))

    def mark(self, response: QuestionResponse) -> Mark:
        text = _fold(need_text(response, "Write an answer first."))
        if text in map(_fold, self.accepted):
            return Mark(True, "")
        known = {_fold(wrong.answer): wrong.feedback for wrong in self.wrong.known}
        return Mark(False, known.get(text, self.wrong.otherwise))

    def fill(self, draw: VariantDraw) -> "Text":
        return replace(super().fill(draw), accepted=_accepted_in(draw), wrong=self.wrong.fill(draw))

    def find_flaw(self, draw: VariantDraw) -> str:
        return self.wrong.find_truth(draw, {accepted.casefold() for accepted in _accepted_in(draw)})


def _check_accepted(written: Written) -> None:
    """Answers are compared as texts: a pattern would match no answer."""
    assert isinstance(written.options, TextOptions)
    line = written.line_of("accept")
    for accepted in written.options.accept:
        if "`" in accepted:
            continue
        if GLUED_BAR.search(accepted):
            message = f"{accepted!r} is one answer, because | needs a blank on each side"
            remedy = f"write {accepted.replace('|', ' | ')}, or put the answer between backticks"
            written.report.add(line, Rule.OPTION_VALUE, accepted, message, remedy)
        elif PATTERN.search(accepted):
            message = f"{accepted!r} looks like a regular expression, and answers are compared as texts"
            remedy = "list the answers with ` | ` between them, or put this one between backticks if it is meant"
            written.report.add(line, Rule.OPTION_VALUE, accepted, message, remedy)


def _accepted_in(draw: VariantDraw) -> tuple[str, ...]:
    return split_texts(show_values(draw).get(ANSWER, ""))


def _fold(text: str) -> str:
    return " ".join(text.replace("`", "").split()).casefold().rstrip(".")
