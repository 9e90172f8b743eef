"""What every question has, whatever its kind, and what a kind is read from. Pure.

A kind has its options, and how it is read, marked, filled from a draw, and checked, in a module beside this one; it
is registered in `kinds`.
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
from app.course.questions.items import Item
from app.course.questions.marks import fill_html, names_in
from app.course.questions.variants import ANSWER, rank, show_values


class QuestionOptions(Options):
    kind: str
    role: Role = Field(description="write one of " + ", ".join(Role))
    concepts: Names = Field(description="write concept ids of course.toml, with commas between them")


class DrawnOptions(QuestionOptions):
    """Of a question whose right answer comes from a draw, and not from its options."""

    variant: Text = Field(description="write the id of a variant fence of this chapter")


@dataclass(frozen=True)
class Listing:
    """A code block of a question."""

    source: str
    language: str


@dataclass(frozen=True, kw_only=True)
class QuestionBase:
    """`answer` is the model answer, shown after an attempt. While there is a `variant`, the texts hold its marks."""

    id: str
    role: Role
    concepts: tuple[str, ...]
    prompt: Html
    where: Where
    content_hash: str
    """Of its wording: the author's lines, and the code of its variant. Moving it or drawing again changes nothing."""
    answer: Html = ""
    variant: Variant | None = None

    kind: ClassVar[str]
    """As an author writes it."""
    options_model: ClassVar[type[QuestionOptions]] = QuestionOptions
    drawn_options_model: ClassVar[type[DrawnOptions] | None] = None
    """None for a kind that has no variant."""
    needs_model_answer: ClassVar[bool] = True
    draws_answer: ClassVar[bool] = True
    """Whether a draw has to name the right answer: of some kinds it stands in the question itself."""
    asks_about_code: ClassVar[bool] = False
    """Whether its code block is what is asked, and no part of the prompt."""

    @classmethod
    def option_models(cls) -> tuple[type[QuestionOptions], ...]:
        """Of a question with its own answer; and of one with drawn answers, where the kind has those."""
        return (cls.options_model, *([cls.drawn_options_model] if cls.drawn_options_model else []))

    @property
    def draws(self) -> tuple[VariantDraw, ...]:
        return self.variant.draws if self.variant else ()

    def find_draw(self, seed: int | None) -> VariantDraw | None:
        """The draw of a seed; None where there is none of it (any more)."""
        return next((draw for draw in self.draws if draw.seed == seed), None)

    def pick_draw(self, learner: str, seen: Collection[int] = ()) -> VariantDraw | None:
        """The first draw in this learner's own order that is not among the seen; after all, the order begins again.

        A draw is known by its seed, not by its position, so that an answer that was kept still belongs to its draw
        after the check has drawn others. None where the question has no variant, or nothing was drawn yet.
        """
        order = sorted(self.draws, key=lambda draw: rank(learner, self.id, draw.seed))
        fresh = [draw for draw in order if draw.seed not in seen]
        if fresh or not order:
            return next(iter(fresh), None)
        seeds = [draw.seed for draw in order]
        last = [seed for seed in seen if seed in seeds][-1]
        return order[(seeds.index(last) + 1) % len(order)]

    def fill(self, draw: VariantDraw) -> Self:
        """The question of one draw: every mark filled, the answer its own, without a variant."""
        shown = show_values(draw)
        prompt, answer = fill_html(self.prompt, shown), fill_html(self.answer, shown)
        return replace(self, prompt=prompt, answer=answer, variant=None)

    def names(self) -> tuple[str, ...]:
        """Every value that a draw has to have."""
        marked = names_in(json.dumps(asdict(replace(self, variant=None)), ensure_ascii=False))
        return (*([ANSWER] if self.draws_answer else []), *marked)

    def why_not(self, draw: VariantDraw, kept: Iterable[VariantDraw]) -> str:
        """Why a draw cannot be asked besides those that are kept, in words; empty where it can."""
        values = draw.values.values()
        if not values or not all(isinstance(value, bool | int | float | str) for value in values):
            return "it is no dict of names to numbers, texts and truths"
        if any(isinstance(value, float) and not math.isfinite(value) for value in values):
            return "it holds a number that is not finite"
        if missing := [name for name in self.names() if name not in draw.values]:
            return f"it has no {missing[0]!r}"
        if any(before.values == draw.values for before in kept):
            return "it was drawn before"
        return self.find_flaw(draw)

    def find_flaw(self, _draw: VariantDraw) -> str:
        """Why a draw that has every value makes no sense as a question of this kind; empty where it does."""
        return ""


@dataclass(frozen=True)
class Written:
    """One question as its author wrote it; `common` is what all kinds have, `line_of` the line of an option."""

    common: QuestionBase
    options: QuestionOptions
    items: tuple[Item, ...]
    listings: tuple[Listing, ...]
    rubric: tuple[Html, ...]
    line: int
    line_of: Callable[[str], int]
    report: Report
