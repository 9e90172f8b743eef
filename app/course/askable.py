"""Why a draw of a question cannot be asked: no answer, no sense, or a wrong idea that is right in it. Pure."""

import math
from collections.abc import Callable, Iterable, Mapping

from app.course.blocks import Draw, Kind, NumberKey, Question
from app.course.marking import EVERY_OTHER, code_lines, shown_order
from app.course.marks import names_in, unmark
from app.course.variants import (
    ANSWER,
    fill_question,
    option_texts,
    plain_options,
    show_values,
    split_texts,
)

FEWEST_LINES = 3
"""What there is to put in order."""

NOT_ANSWERED = (Kind.CHOICE, Kind.ORDER)
"""The right answer of these stands in the question itself."""


def why_not(question: Question, draw: Draw, kept: Iterable[Draw]) -> str:
    """Why a draw cannot be asked, in words; empty where it can."""
    if not draw.values or not all(isinstance(value, bool | int | float | str) for value in draw.values.values()):
        return "it is no dict of names to numbers, texts and truths"
    if any(isinstance(value, float) and not math.isfinite(value) for value in draw.values.values()):
        return "it holds a number that is not finite"
    if question.kind not in NOT_ANSWERED and ANSWER not in draw.values:
        return f"it has no {ANSWER!r}"
    if missing := [name for name in names_of(question) if name not in draw.values]:
        return f"it has no {missing[0]!r}"
    if any(before.values == draw.values for before in kept):
        return "it was drawn before"
    return _FINDERS[question.kind](question, draw)


def names_of(question: Question) -> tuple[str, ...]:
    """Every value that a draw has to have."""
    texts = [question.prompt, question.answer, question.code]
    for option in question.options:
        texts += [option.id, option.feedback]
    return tuple(dict.fromkeys((*names_in("\n".join(texts)), *question.slips)))


def _in_choice(question: Question, draw: Draw) -> str:
    texts = option_texts(question, draw)
    twin = next((text for text in texts if texts.count(text) > 1), None)
    return f"two answers are {twin!r}" if twin is not None else ""


def _in_several(question: Question, draw: Draw) -> str:
    """The slips are whole sets: each single answer may be right in one draw and wrong in another."""
    if twins := _in_choice(question, draw):
        return twins
    texts, shown = option_texts(question, draw), show_values(draw)
    truth = frozenset(plain_options(split_texts(shown[ANSWER])))
    if not truth:
        return "none of its answers is right"
    for name in (ANSWER, *question.slips):
        chosen = plain_options(split_texts(shown[name]))
        if stranger := next((text for text in chosen if text not in texts), None):
            return f"its {name!r} names {stranger!r}, which is none of the answers"
        if name != ANSWER and frozenset(chosen) == truth:
            return f"the slip {name!r} is the truth"
    return ""


def _in_number(question: Question, draw: Draw) -> str:
    key = fill_question(question, draw).number
    return _find_equal_number(question, key) if key else ""


def _find_equal_number(question: Question, key: NumberKey) -> str:
    if not math.isfinite(key.value):
        return f"its {ANSWER!r} is no number"
    slips = [slip for slip in question.options if slip.id != EVERY_OTHER]
    for slip, (value, _) in zip(slips, key.slips, strict=True):
        if not math.isfinite(value):
            return f"the slip {unmark(slip.id)} is no number"
        if abs(value - key.value) <= 2 * key.tolerance + abs(key.value) * 1e-9:
            return f"the slip {unmark(slip.id)} is the truth"
    return ""


def _in_text(question: Question, draw: Draw) -> str:
    right = {accepted.casefold() for accepted in fill_question(question, draw).accepted}
    return _find_right_slip(question, draw, right)


def _find_right_slip(question: Question, draw: Draw, right: Iterable[str]) -> str:
    """The slip that is right in this draw: whoever gave it would be told that they understood."""
    texts = option_texts(question, draw)
    pairs = zip(question.options, texts, strict=True)
    equal = next((slip for slip, text in pairs if text.casefold() in right), None)
    return f"the slip {unmark(equal.id)} is the truth" if equal else ""


def _in_lines(question: Question, draw: Draw) -> str:
    filled = fill_question(question, draw)
    numbers = [str(number) for number, _ in enumerate(code_lines(filled), 1)]
    if not filled.accepted:
        return f"its {ANSWER!r} names no line"
    if stranger := next((line for line in filled.accepted if line not in numbers), None):
        return f"its {ANSWER!r} names the line {stranger!r}, and the code has the lines 1 to {len(numbers)}"
    if set(filled.accepted) == set(numbers):
        return "every line is right in it"
    for slip, option in zip(question.options, filled.options, strict=True):
        if option.id not in (*numbers, EVERY_OTHER):
            return f"the slip {unmark(slip.id)} is no line of its code"
    return _find_right_slip(question, draw, filled.accepted)


def _in_order(question: Question, draw: Draw) -> str:
    lines = code_lines(fill_question(question, draw))
    if len(lines) < FEWEST_LINES:
        return f"its code has fewer than {FEWEST_LINES} lines"
    shown = tuple(lines[index] for index in shown_order(len(lines)))
    return "its lines are shown in the right order" if shown == lines else ""


_FINDERS: Mapping[Kind, Callable[[Question, Draw], str]] = {
    Kind.CHOICE: _in_choice,
    Kind.SEVERAL: _in_several,
    Kind.NUMBER: _in_number,
    Kind.TEXT: _in_text,
    Kind.WRONG_LINE: _in_lines,
    Kind.ORDER: _in_order,
}
"""The kinds that a draw can fill; the loader gives no other kind a variant."""
