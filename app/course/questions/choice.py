"""Questions with answers to choose from: one of them, or several. Each answer has its own feedback. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import Field

from app.course.blocks import Html, Option, VariantDraw
from app.course.language.option_fields import Names
from app.course.questions.draw_values import ANSWER, plain_text, rank, show_values, split_texts
from app.course.questions.items import Item, as_options, check_choice, check_drawn_several, name_options
from app.course.questions.marking import Mark, QuestionResponse, Unmarkable
from app.course.questions.placeholders import fill_html, fill_text
from app.course.questions.question import DrawnOptions, QuestionBase, Written

MISSING: Html = "<p>What you chose is right as far as it goes; something is still missing.</p>"


class DrawnSeveralOptions(DrawnOptions):
    known_wrong: Names = Field(default=(), description="write names of the draw's values, with commas between them")


@dataclass(frozen=True, kw_only=True)
class Choice(QuestionBase):
    """One of the options is right."""

    options: tuple[Option, ...]

    kind = "choice"
    drawn_options_model = DrawnOptions
    needs_model_answer = False
    draws_answer = False

    @classmethod
    def read(cls, written: Written) -> "Choice":
        check_choice(written.items, written.line, True, written.report)
        as_read = _as_templates if isinstance(written.options, DrawnOptions) else as_options
        return cls(**vars(written.common), options=as_read(written.items))

    def mark(self, response: QuestionResponse) -> Mark:
        chosen = [option for option in self.options if option.id in response.values]
        if len(chosen) != 1:
            raise Unmarkable("Choose one of the answers first.")
        return Mark(chosen[0].right, chosen[0].feedback)

    def fill(self, draw: VariantDraw) -> "Choice":
        """Each draw has its own order of options; otherwise the right one would always be in the same place."""
        options = sorted(_fill_options(self.options, draw), key=lambda option: rank(option.id, self.id, draw.seed))
        return replace(super().fill(draw), options=tuple(options))

    def find_flaw(self, draw: VariantDraw) -> str:
        return _find_twins(_fill_texts(self.options, draw))


@dataclass(frozen=True, kw_only=True)
class Several(QuestionBase):
    """All right options and no others must be chosen. With a variant, each draw says which options are right.

    `wrong_sets` then names the draw's values that list what a learner with a wrong idea would choose. A single
    option cannot serve for this, because it may be right in one draw and wrong in another.
    """

    options: tuple[Option, ...]
    wrong_sets: tuple[str, ...] = ()

    kind = "several"
    drawn_options_model = DrawnSeveralOptions
    needs_model_answer = False

    @classmethod
    def read(cls, written: Written) -> "Several":
        items, line, report = written.items, written.line, written.report
        if isinstance(written.options, DrawnSeveralOptions):
            check_drawn_several(items, line, report)
            wrong_sets = written.options.known_wrong
            return cls(**vars(written.common), options=_as_templates(items), wrong_sets=wrong_sets)
        check_choice(items, line, False, report)
        return cls(**vars(written.common), options=as_options(items))

    def mark(self, response: QuestionResponse) -> Mark:
        """Right if exactly the right options are chosen; the feedback is that of the wrong options chosen."""
        chosen = set(response.values) & {option.id for option in self.options}
        if not chosen:
            raise Unmarkable("Choose at least one of the answers first.")
        right = {option.id for option in self.options if option.right}
        shown = (chosen - right) or chosen
        feedback = "".join(option.feedback for option in self.options if option.id in shown)
        return Mark(chosen == right, MISSING if chosen < right else feedback)

    def fill(self, draw: VariantDraw) -> "Several":
        truth, texts = _chosen_by(ANSWER, draw), _fill_texts(self.options, draw)
        filled = zip(_fill_options(self.options, draw), texts, strict=True)
        return replace(
            super().fill(draw), options=tuple(replace(option, right=text in truth) for option, text in filled)
        )

    def names(self) -> tuple[str, ...]:
        return (*super().names(), *self.wrong_sets)

    def find_flaw(self, draw: VariantDraw) -> str:
        texts, truth = _fill_texts(self.options, draw), _chosen_by(ANSWER, draw)
        if twins := _find_twins(texts):
            return twins
        if not truth:
            return "none of its answers is right"
        for name in (ANSWER, *self.wrong_sets):
            chosen = _chosen_by(name, draw)
            if stranger := next((text for text in chosen if text not in texts), None):
                return f"its {name!r} names {stranger!r}, which is not one of the answers"
            if name != ANSWER and set(chosen) == set(truth):
                return f"the wrong answer {name!r} is the truth"
        return ""


def _as_templates(items: Sequence[Item]) -> tuple[Option, ...]:
    """Options before a draw fills them: their ids are their texts, marks included."""
    return tuple(Option(item.text, item.html, item.right, item.feedback) for item in items)


def _fill_texts(options: Sequence[Option], draw: VariantDraw) -> tuple[str, ...]:
    """The options' texts in a draw, in the author's order."""
    shown = show_values(draw)
    return tuple(plain_text(fill_text(option.id, shown)) for option in options)


def _fill_options(options: Sequence[Option], draw: VariantDraw) -> tuple[Option, ...]:
    shown, names = show_values(draw), name_options(_fill_texts(options, draw))
    return tuple(
        Option(name, fill_html(option.html, shown), option.right, fill_html(option.feedback, shown))
        for name, option in zip(names, options, strict=True)
    )


def _chosen_by(name: str, draw: VariantDraw) -> tuple[str, ...]:
    """The texts of the answers that a value of the draw names."""
    return tuple(map(plain_text, split_texts(show_values(draw).get(name, ""))))


def _find_twins(texts: Sequence[str]) -> str:
    twin = next((text for text in texts if texts.count(text) > 1), None)
    return f"two answers are {twin!r}" if twin is not None else ""
