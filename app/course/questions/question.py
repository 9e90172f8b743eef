"""The base of every kind of question, and what a kind is read from. Pure.

Each kind has a module in this package with its options and the code that reads, marks, fills and checks it. `kinds`
registers them.
"""

import json
import math
from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict, dataclass, replace
from typing import ClassVar, Self

from pydantic import Field

from app.course.blocks import Html, Role, Variant, VariantDraw, Where
from app.course.language.option_fields import Names, Options, Text
from app.course.problems import Report
from app.course.questions.draw_values import ANSWER, rank, show_values
from app.course.questions.items import Item
from app.course.questions.placeholders import fill_html, names_in


class QuestionOptions(Options):
    kind: str
    role: Role = Field(description="write one of " + ", ".join(Role))
    concepts: Names = Field(description="write concept ids of course.toml, with commas between them")


class DrawnOptions(QuestionOptions):
    """The options of a question whose right answer comes from a draw."""

    variant: Text = Field(description="write the id of a variant fence of this chapter")


@dataclass(frozen=True)
class Listing:
    """A code block of a question."""

    source: str
    language: str


@dataclass(frozen=True, kw_only=True)
class QuestionBase:
    """`answer` is the model answer, shown after an attempt. If `variant` is set, the texts hold unfilled marks."""

    id: str
    role: Role
    concepts: tuple[str, ...]
    prompt: Html
    where: Where
    content_hash: str
    """The hash of the author's lines and the variant's code. Moving the question or drawing again keeps it."""
    answer: Html = ""
    variant: Variant | None = None

    kind: ClassVar[str]
    """The kind's name as an author writes it."""
    options_model: ClassVar[type[QuestionOptions]] = QuestionOptions
    drawn_options_model: ClassVar[type[DrawnOptions] | None] = None
    """The options with drawn answers; None if the kind allows no variant."""
    needs_model_answer: ClassVar[bool] = True
    draws_answer: ClassVar[bool] = True
    """Whether a draw must name the right answer. Some kinds hold it in the question itself."""
    asks_about_code: ClassVar[bool] = False
    """Whether its code block is what the question asks about, not part of the prompt."""

    @classmethod
    def option_models(cls) -> tuple[type[QuestionOptions], ...]:
        """The options of a question with a fixed answer and, if the kind has them, with drawn answers."""
        return (cls.options_model, *([cls.drawn_options_model] if cls.drawn_options_model else []))

    @property
    def draws(self) -> tuple[VariantDraw, ...]:
        return self.variant.draws if self.variant else ()

    def find_draw(self, seed: int | None) -> VariantDraw | None:
        """The draw with this seed; None if there is none, for example because the check drew others since."""
        return next((draw for draw in self.draws if draw.seed == seed), None)

    def pick_draw(self, learner: str, seen: Collection[int] = ()) -> VariantDraw | None:
        """The first unseen draw in this learner's own order; once all are seen, the order starts again.

        A draw is identified by its seed, not its position, so that a stored answer still belongs to its draw
        after the check has drawn others. None if the question has no variant, or nothing has been drawn yet.
        """
        order = sorted(self.draws, key=lambda draw: rank(learner, self.id, draw.seed))
        fresh = [draw for draw in order if draw.seed not in seen]
        if fresh or not order:
            return next(iter(fresh), None)
        seeds = [draw.seed for draw in order]
        last = [seed for seed in seen if seed in seeds][-1]
        return order[(seeds.index(last) + 1) % len(order)]

    def fill(self, draw: VariantDraw) -> Self:
        """The question for one draw: every mark is filled, the answer is the draw's, and `variant` is None."""
        shown = show_values(draw)
        prompt, answer = fill_html(self.prompt, shown), fill_html(self.answer, shown)
        return replace(self, prompt=prompt, answer=answer, variant=None)

    def names(self) -> tuple[str, ...]:
        """The names of all values that a draw must have."""
        marked = names_in(json.dumps(asdict(replace(self, variant=None)), ensure_ascii=False))
        return (*([ANSWER] if self.draws_answer else []), *marked)

    def why_not(self, draw: VariantDraw, kept: Iterable[VariantDraw]) -> str:
        """Why a draw cannot be used in addition to those already kept, in words; empty if it can."""
        values = draw.values.values()
        if not values or not all(isinstance(value, bool | int | float | str) for value in values):
            return "it is not a dict of names to numbers, texts and booleans"
        if any(isinstance(value, float) and not math.isfinite(value) for value in values):
            return "it holds a number that is not finite"
        if missing := [name for name in self.names() if name not in draw.values]:
            return f"it has no {missing[0]!r}"
        if any(before.values == draw.values for before in kept):
            return "it was drawn before"
        return self.find_flaw(draw)

    def find_flaw(self, _draw: VariantDraw) -> str:
        """Why a draw that has every value is still no valid question of this kind; empty if it is valid."""
        return ""


@dataclass(frozen=True)
class Written:
    """One question as its author wrote it. `common` holds what all kinds share; `line_of` gives an option's line."""

    common: QuestionBase
    options: QuestionOptions
    items: tuple[Item, ...]
    listings: tuple[Listing, ...]
    rubric: tuple[Html, ...]
    line: int
    line_of: Callable[[str], int]
    report: Report
