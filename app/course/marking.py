"""Marking an answer: pure, from a question and what was given to right or wrong and the words for it.

An answer is kept as it was given (strings), so that a history can be marked again after a question was mended.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from string import ascii_lowercase
from typing import TypeVar
from zlib import crc32

from app.course.blocks import Html, Kind, NumberKey, Question

KeyT = TypeVar("KeyT")

EVERY_OTHER = "*"
"""The id of the option whose feedback belongs to every answer not listed."""

MISSING: Html = "<p>What you chose is right as far as it goes; something is still missing.</p>"


@dataclass(frozen=True)
class Given:
    """What a form sent: `values` for options and lines, `text` for what was typed, names of the node clicked.

    `draw` is the seed of the draw that was answered, of a question with a variant.
    """

    values: tuple[str, ...] = ()
    text: str = ""
    node_names: tuple[str, ...] = ()
    draw: int | None = None


@dataclass(frozen=True)
class Mark:
    """`right` is None where only the learner can say: an open answer, which the rubric is held against."""

    right: bool | None
    feedback: Html


class Unmarkable(Exception):
    """The form held no answer that this question could take. The message is a sentence for the learner."""


def mark_answer(question: Question, given: Given) -> Mark:
    """Mark one attempt. Raises Unmarkable when nothing usable was given (an unknown option, not a number)."""
    return _MARKERS[question.kind](question, given)


def _mark_choice(question: Question, given: Given) -> Mark:
    chosen = [option for option in question.options if option.id in given.values]
    if len(chosen) != 1:
        raise Unmarkable("Choose one of the answers first.")
    return Mark(chosen[0].right, chosen[0].feedback)


def _mark_several(question: Question, given: Given) -> Mark:
    """Right when exactly the right ones are chosen; the feedback is that of the wrong ones among the chosen."""
    chosen = set(given.values) & {option.id for option in question.options}
    if not chosen:
        raise Unmarkable("Choose at least one of the answers first.")
    right = {option.id for option in question.options if option.right}
    shown = (chosen - right) or chosen
    feedback = "".join(option.feedback for option in question.options if option.id in shown)
    return Mark(chosen == right, MISSING if chosen < right else feedback)


def read_number(text: str) -> float:
    """A number as people write it: 1,024 or 1_024, a fraction 1/3, a percent sign. Raises Unmarkable."""
    plain = text.strip().rstrip("%").replace("_", "").replace(",", "").replace("−", "-").strip()
    numerator, slash, denominator = plain.partition("/")
    try:
        value = float(numerator) / float(denominator) if slash else float(numerator)
    except (ValueError, ZeroDivisionError):
        raise Unmarkable(f"“{text.strip()[:40]}” is not a number; write digits, for example 12 or 0.5.") from None
    if not math.isfinite(value):
        raise Unmarkable("Write a finite number.")
    return value


def _mark_number(question: Question, given: Given) -> Mark:
    if not given.text.strip():
        raise Unmarkable("Write a number first.")
    return _compare(_need(question.number), read_number(given.text))


def _compare(key: NumberKey, value: float) -> Mark:
    if abs(value - key.value) <= key.tolerance + _rounding(key.value):
        return Mark(True, "")
    for slip, feedback in key.slips:
        if abs(value - slip) <= key.tolerance + _rounding(slip):
            return Mark(False, feedback)
    return Mark(False, key.otherwise)


def _rounding(value: float) -> float:
    """A decimal that a learner types is not the double that an author computed: forgive the last bits."""
    return abs(value) * 1e-9


def _mark_text(question: Question, given: Given) -> Mark:
    if not given.text.strip():
        raise Unmarkable("Write an answer first.")
    text = _folded(given.text)
    if text in {_folded(accepted) for accepted in question.accepted}:
        return Mark(True, "")
    feedback = {_folded(slip.id): slip.feedback for slip in question.options}
    return Mark(False, feedback.get(text, feedback.get(EVERY_OTHER, "")))


def _folded(text: str) -> str:
    return " ".join(text.replace("`", "").split()).casefold().rstrip(".")


def shown_order(line_count: int) -> tuple[int, ...]:
    """The order in which an order question's lines are first shown: the same for all, and never the right one."""
    right = tuple(range(line_count))
    mixed = tuple(sorted(right, key=lambda index: crc32(f"{line_count}:{index}".encode())))
    return mixed if mixed != right else right[::-1]


def code_lines(question: Question) -> tuple[str, ...]:
    """The lines of an order or wrong-line question."""
    return tuple(question.code.rstrip("\n").split("\n"))


def line_letter(position: int) -> str:
    """The letter of a line in the shown order: a, b, ... z, then aa."""
    letters = ascii_lowercase
    return letters[position] if position < len(letters) else letters[position // 26 - 1] + letters[position % 26]


def _mark_order(question: Question, given: Given) -> Mark:
    """The text holds letters of shown lines; lines that read the same may change places."""
    lines = code_lines(question)
    shown = {line_letter(position): lines[index] for position, index in enumerate(shown_order(len(lines)))}
    letters = re.findall(r"[a-z]+", given.text.lower())
    if len(letters) == 1 and len(shown) <= len(ascii_lowercase):
        letters = list(letters[0])
    if sorted(letters) != sorted(shown):
        raise Unmarkable(f"Name each line once, by its letter: {', '.join(shown)} in the order that you think right.")
    if tuple(shown[letter] for letter in letters) == lines:
        return Mark(True, "")
    return Mark(False, next((slip.feedback for slip in question.options if slip.id == EVERY_OTHER), ""))


def _mark_click(question: Question, given: Given) -> Mark:
    key, names = _need(question.graph), given.node_names
    if not names:
        raise Unmarkable("Click a node of the graph, or choose it from the list, first.")
    if set(names) & set(key.targets):
        return Mark(True, "")
    return Mark(False, _feedback_for(names, key.wrong, key.otherwise))


def _feedback_for(names: tuple[str, ...], wrong: Mapping[str, Html], otherwise: Html) -> Html:
    return next((wrong[name] for name in names if name in wrong), otherwise)


def _mark_line(question: Question, given: Given) -> Mark:
    """The right lines stand in `accepted`, counted from 1; the options hold the feedback of wrong ones."""
    count, values = len(code_lines(question)), given.values
    if len(values) != 1 or not values[0].isdecimal() or not 1 <= int(values[0]) <= count:
        raise Unmarkable("Choose the line first.")
    if values[0] in question.accepted:
        return Mark(True, "")
    feedback = {option.id: option.feedback for option in question.options}
    return Mark(False, feedback.get(values[0], feedback.get(EVERY_OTHER, "")))


def _need(key: KeyT | None) -> KeyT:
    """The loader gives every question the key of its kind; this says so to the type checker."""
    if key is None:
        raise LookupError("a question without the key of its kind: the loader let it pass")
    return key


def _mark_open(_question: Question, given: Given) -> Mark:
    if not given.text.strip():
        raise Unmarkable("Write an answer first: a sentence is enough.")
    return Mark(None, "")


_MARKERS: Mapping[Kind, Callable[[Question, Given], Mark]] = {
    Kind.CHOICE: _mark_choice,
    Kind.SEVERAL: _mark_several,
    Kind.NUMBER: _mark_number,
    Kind.TEXT: _mark_text,
    Kind.ORDER: _mark_order,
    Kind.GRAPH_CLICK: _mark_click,
    Kind.WRONG_LINE: _mark_line,
    Kind.OPEN: _mark_open,
}
