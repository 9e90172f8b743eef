"""Variants of a question: which draw a learner gets, and the question that a draw makes. Pure.

A draw is known by its seed, not by its place, so that an answer that was kept still belongs to its draw after the
check has drawn others.
"""

import hashlib
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from app.course.answers import name_options
from app.course.blocks import Draw, Kind, NumberKey, Option, Question, Value
from app.course.marking import EVERY_OTHER
from app.course.marks import fill_html, fill_text

ANSWER = "answer"
TOLERANCE = "tolerance"
"""What every draw has to hold, and what it may hold to say how far from the answer an answer may lie."""

DIGITS = 6


def pick_draw(question: Question, learner: str, seen: Collection[int] = ()) -> Draw | None:
    """The first draw in this learner's own order that is not among the seen; when all are, the order begins again.

    None where the question has no variant, or nothing was drawn yet.
    """
    draws = question.variant.draws if question.variant else ()
    if not draws:
        return None
    order = sorted(draws, key=lambda draw: _place(learner, question.id, draw.seed))
    seen_in_order = [seed for seed in seen if any(draw.seed == seed for draw in order)]
    fresh = [draw for draw in order if draw.seed not in seen_in_order]
    if fresh:
        return fresh[0]
    last = seen_in_order[-1]
    place = next(index for index, draw in enumerate(order) if draw.seed == last)
    return order[(place + 1) % len(order)]


def _place(learner: str, question: str, seed: int) -> bytes:
    return hashlib.sha256(f"{learner}\n{question}\n{seed}".encode()).digest()


def find_draw(question: Question, seed: int | None) -> Draw | None:
    """The draw of a seed; None where there is none of it (any more)."""
    draws = question.variant.draws if question.variant else ()
    return next((draw for draw in draws if draw.seed == seed), None)


def show_value(value: Value) -> str:
    """A value as it stands in a sentence: six digits are enough to tell numbers apart."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else str(value)


def show_values(draw: Draw) -> dict[str, str]:
    return {name: show_value(value) for name, value in draw.values.items()}


def fill_question(question: Question, draw: Draw) -> Question:
    """The question of one draw: every place filled, the answer its own, without a variant."""
    shown = show_values(draw)
    filled = replace(
        question,
        prompt=fill_html(question.prompt, shown),
        answer=fill_html(question.answer, shown),
        options=_fill_options(question, draw, shown),
        code=fill_text(question.code, shown),
        variant=None,
    )
    if question.number is not None:
        return replace(filled, number=_fill_number(question.number, question.options, draw, shown), options=())
    if question.kind is Kind.TEXT:
        return replace(filled, accepted=split_texts(shown.get(ANSWER, "")))
    if question.kind is Kind.WRONG_LINE:
        return replace(filled, accepted=split_lines(shown.get(ANSWER, "")))
    return filled


def split_texts(shown: str) -> tuple[str, ...]:
    """The texts of a value that holds some, with `|` between them."""
    return tuple(part.strip() for part in shown.split("|") if part.strip())


def split_lines(shown: str) -> tuple[str, ...]:
    """The line numbers of a value that holds some, with commas between them."""
    return tuple(part.strip() for part in shown.split(",") if part.strip())


def plain_options(texts: Iterable[str]) -> tuple[str, ...]:
    """Options as a draw may name them: backticks and blanks do not count."""
    return tuple(" ".join(text.replace("`", "").split()) for text in texts)


def option_texts(question: Question, draw: Draw) -> tuple[str, ...]:
    """The words of a question's options in a draw, in the author's order."""
    shown = show_values(draw)
    return plain_options(fill_text(option.id, shown) for option in question.options)


def _fill_options(question: Question, draw: Draw, shown: Mapping[str, str]) -> tuple[Option, ...]:
    """A choice's answers stand in an order of the draw's own, or the right one would always be in the same place."""
    texts = option_texts(question, draw)
    names = name_options(texts) if question.kind in (Kind.CHOICE, Kind.SEVERAL) else texts
    right = plain_options(split_texts(shown.get(ANSWER, ""))) if question.kind is Kind.SEVERAL else None
    options = [
        Option(
            name,
            fill_html(option.html, shown),
            option.right if right is None else text in right,
            fill_html(option.feedback, shown),
        )
        for name, text, option in zip(names, texts, question.options, strict=True)
    ]
    if question.kind is Kind.CHOICE:
        options.sort(key=lambda option: _place(option.id, question.id, draw.seed))
    return tuple(options)


def _fill_number(key: NumberKey, slips: tuple[Option, ...], draw: Draw, shown: Mapping[str, str]) -> NumberKey:
    tolerance = number_of(draw.values.get(TOLERANCE, key.tolerance), key.tolerance)
    value = number_of(draw.values.get(ANSWER, math.nan), math.nan)
    filled = [(slip, fill_html(slip.feedback, shown)) for slip in slips]
    known = tuple((slip_value(slip, draw), feedback) for slip, feedback in filled if slip.id != EVERY_OTHER)
    otherwise = next((feedback for slip, feedback in filled if slip.id == EVERY_OTHER), "")
    return NumberKey(value, tolerance, key.unit, known, otherwise)


def slip_value(slip: Option, draw: Draw) -> float:
    """The number that a slip gives in a draw; NaN where it gives none."""
    text = fill_text(slip.id, {name: repr(value) for name, value in draw.values.items()})
    return number_of(text, math.nan)


def number_of(value: Value, otherwise: float) -> float:
    """A number that a generator gave; `otherwise` for what is none."""
    try:
        return float(value)
    except ValueError:
        return otherwise
